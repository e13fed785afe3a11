from densvec.native._word2gauss import Kernel as Kernel
