import Foundation
import JSON

extension Simulator {
    /// Where everything is, as one line of JSON: addresses, and the certificates' files if there is a folder.
    package var announcement: String {
        let directory = stateDirectory
        func path(_ name: String) -> JSONValue { directory.map { .string("\($0)/\(name)") } ?? nil }
        let value: JSONValue = [
            "production": .string(baseURL(.production)), "sandbox": .string(baseURL(.sandbox)),
            "control": .string(controlURL), "rootPEM": path(CertificateSet.FileName.root),
            "rootDER": path(CertificateSet.FileName.rootDER), "tlsCAPEM": path(CertificateSet.FileName.tls),
            "seed": .number(JSONNumber(seed)), "pid": .number(JSONNumber(ProcessInfo.processInfo.processIdentifier)),
        ]
        return value.serializedString()
    }

    /// Writes the announcement to a file, whole or not at all, so that waiting for the file is enough.
    ///
    /// - Throws: what the system says against the path.
    package func announce(inFile path: String) throws {
        try Data((announcement + "\n").utf8).write(to: URL(filePath: path), options: .atomic)
    }
}
