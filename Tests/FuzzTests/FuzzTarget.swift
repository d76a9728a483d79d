import Foundation

/// What `make fuzz` throws bytes at: one parser, and what must hold whatever it is given.
///
/// `FuzzTests` puts the corpus to it, and the corpus changed at random, in every run of the tests; libFuzzer goes on from there
/// (`Resources/libFuzzer.swift`).
struct FuzzTarget: Sendable {
    /// The name, and that of the folder with its corpus.
    let name: String
    /// Reads the bytes in every way there is; throws a `FuzzFinding` when what must hold does not.
    let run: @Sendable ([UInt8]) throws -> Void

    static let all =
        jsonTargets + joseTargets + certificateTargets + receiptTargets + requestTargets + appleTargets
        + messageTargets

    /// The folder with a folder for each target.
    static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Resources/corpus")

    /// The files to begin with, in the order of their names.
    func seeds() throws -> [(name: String, bytes: [UInt8])] { try Self.seeds(of: name) }

    private static func seeds(of target: String) throws -> [(name: String, bytes: [UInt8])] {
        let folder = corpus.appending(path: target)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            ($0, Array(try Data(contentsOf: folder.appending(path: $0))))
        }
    }

    /// The files of a corpus that were really signed; nothing else may be believed.
    static func signed(in target: String) throws -> [[UInt8]] {
        try seeds(of: target).filter { $0.name.hasPrefix("signed-") }.map(\.bytes)
    }

    /// A file beside the corpus, by which a target judges its input.
    static func fixture(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: corpus.deletingLastPathComponent().appending(path: name)))
    }
}

/// Something that must hold of a parser and does not.
struct FuzzFinding: Error, CustomStringConvertible {
    let description: String
}

/// Throws a finding unless a condition holds.
func hold(_ condition: Bool, _ rule: @autoclosure () -> String) throws {
    guard condition else { throw FuzzFinding(description: rule()) }
}

extension [UInt8] {
    /// The same bytes as text, where they are UTF-8.
    var text: String? { String(validating: self, as: UTF8.self) }

    /// The parts between bytes 0xFF, which stand in no text.
    var parts: [[UInt8]] { split(separator: 0xFF, omittingEmptySubsequences: false).map(Array.init) }
}
