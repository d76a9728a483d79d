/// Which type of the module stands for which name of Apple's.
enum Catalogue {}
