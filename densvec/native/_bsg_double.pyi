from densvec.native._bsg import Kernel as Kernel
