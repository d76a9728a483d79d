import Foundation
import OpenSSL
import Testing

/// Something that is unlike anything else, put in at one place so that it can be looked for at all others.
struct Marker: Sendable {
    /// What it stands for.
    let name: String
    /// Every form in which it may have come there.
    let forms: [Data]

    /// A text: as it is, and within what was encoded as a whole.
    init(_ name: String, _ text: String) {
        self.name = name
        forms = [Data(text.utf8)] + Self.encodings(of: Data(text.utf8))
    }

    /// Bytes: as they are, in either case of hexadecimal digits, and in Base64.
    init(_ name: String, _ bytes: Data) {
        self.name = name
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        forms = [bytes, Data(digits.utf8), Data(digits.uppercased().utf8)] + Self.encodings(of: bytes)
    }

    /// What a private key may be known by: the lines of its file, and its private number in either order of its bytes.
    static func key(_ name: String, pem: String) throws -> [Marker] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let der = try #require(Data(base64Encoded: lines.joined()))
        // Version 1, and an octet string of 32 bytes (RFC 5915).
        let mark = try #require(der.firstRange(of: [0x02, 0x01, 0x01, 0x04, 0x20]))
        let number = der[mark.upperBound...].prefix(32)
        try #require(number.count == 32 && lines.count == 3)
        // The first line of every key begins alike, the last is short.
        return [
            Marker("\(name), its text", String(lines[0].suffix(16))),
            Marker("\(name), its text", String(lines[1])),
            Marker("\(name), its number", Data(number)),
            Marker("\(name), its number backwards", Data(number.reversed())),
        ]
    }

    /// Base64 in both alphabets, of the content as a part of something longer: the digits that its neighbours share are left
    /// out (RFC 4648).
    private static func encodings(of content: Data) -> [Data] {
        (0..<3).flatMap { shift in
            let text = (Data(repeating: 0, count: shift) + content).base64EncodedString()
            let inner = String(text.dropFirst(shift == 0 ? 0 : 4).dropLast(4))
            let isLongEnough = inner.count >= 12
            return isLongEnough
                ? Set([inner, inner.replacing("+", with: "-").replacing("/", with: "_")]).map { Data($0.utf8) } : []
        }
    }
}

/// Looks for markers wherever a program may leave something.
struct MarkerSearch: Sendable {
    /// Where what was found.
    struct Finding: Sendable, Hashable, CustomStringConvertible {
        let marker: String
        let place: String

        var description: String { "\(marker) in \(place)" }
    }

    let markers: [Marker]

    /// What is in some content.
    func findings(in content: Data, _ place: String) -> [Finding] {
        markers.filter { $0.forms.contains { content.range(of: $0) != nil } }.map {
            Finding(marker: $0.name, place: place)
        }
    }

    func findings(in text: String, _ place: String) -> [Finding] { findings(in: Data(text.utf8), place) }

    /// What is in the files below a folder, hidden ones too, and in their names.
    func findings(below folder: URL, without left: Set<String> = []) throws -> [Finding] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { !left.contains($0) }.flatMap { path in
            let url = folder.appending(path: path)
            var found = findings(in: path, "the name \(path)")
            let type = try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
            if type == .typeRegular { found += findings(in: try Data(contentsOf: url), path) }
            return found
        }
    }

    /// What everybody on the machine sees of a process, and what it has in files that are open but have no name any more.
    func findings(inProcess process: pid_t) throws -> [Finding] {
        let folder = "/proc/\(process)"
        var found: [Finding] = []
        for name in ["cmdline", "environ", "comm"] {
            found += findings(in: try Self.content(of: "\(folder)/\(name)"), "\(name) of a process")
        }
        for descriptor in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd") {
            let path = "\(folder)/fd/\(descriptor)"
            let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
            guard target.hasSuffix(" (deleted)") || target.hasPrefix("/memfd:") else { continue }
            found += findings(in: try Self.content(of: path), "a deleted file of a process")
        }
        return found
    }

    /// The kernel tells no size of these files.
    private static func content(of path: String) throws -> Data {
        let handle = try FileHandle(forReadingFrom: URL(filePath: path))
        defer { try? handle.close() }
        return try handle.readToEnd() ?? Data()
    }
}
