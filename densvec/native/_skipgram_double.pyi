from densvec.native._skipgram import Kernel as Kernel
