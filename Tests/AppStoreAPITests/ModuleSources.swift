import Foundation

/// What the package's sources say of this module's types: how each is declared, and who names it.
enum ModuleSources {
    /// A type at the top level of a file of the module.
    struct Declaration {
        let name: String
        /// What follows the colon.
        let inherited: String
        /// The names in the declaration, those in comments left out.
        var names: Set<String>
    }

    /// The structures and enumerations of the module.
    static func declarations() throws -> [Declaration] { try read.get() }

    /// Read once for all tests.
    private static let read = Result { try readDeclarations() }

    private static func readDeclarations() throws -> [Declaration] {
        var declarations: [Declaration] = []
        for file in try files(of: "AppStoreAPI") {
            var current: Declaration?
            for line in file.split(separator: "\n") {
                if line.hasPrefix("package "),
                    let head = line.wholeMatch(of: /package (?:struct|enum) (\w+)(?:: (.+))? {/)
                {
                    current = Declaration(name: String(head.1), inherited: head.2.map(String.init) ?? "", names: [])
                }
                current?.names.formUnion(names(in: line))
                if line == "}", let declaration = current {
                    declarations.append(declaration)
                    current = nil
                }
            }
        }
        return declarations
    }

    /// All names in the files that import the module, of daemon, simulator and their tools; a benchmark is no use.
    static func namesOfUsers() throws -> Set<String> {
        let modules = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        var names: Set<String> = []
        for module in modules where module != "AppStoreAPI" && module != "purser-bench" {
            for file in try files(of: module) where file.contains("import AppStoreAPI\n") {
                for line in file.split(separator: "\n") { names.formUnion(Self.names(in: line)) }
            }
        }
        return names
    }

    /// The contents of a module's Swift files.
    private static func files(of module: String) throws -> [String] {
        let module = folder.appending(path: module)
        let paths = FileManager.default.enumerator(atPath: module.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOf: module.appending(path: $0), encoding: .utf8) }
    }

    /// The words of a line, found by bytes: this runs over the whole package.
    private static func names(in line: Substring) -> [String] {
        guard !line.utf8.drop(while: { $0 == UInt8(ascii: " ") }).starts(with: "//".utf8) else { return [] }
        return line.utf8.split { !isPartOfName($0) }.map { String(Substring($0)) }
    }

    private static func isPartOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }

    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../Sources").standardizedFileURL
}
