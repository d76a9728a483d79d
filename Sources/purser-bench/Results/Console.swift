import Foundation

/// What a person sees.
enum Console {
    /// Writes to the standard output.
    static func print(_ text: String) { write(text, to: .standardOutput) }

    /// Writes a line to the standard error, so that the output holds the table alone.
    static func progress(_ text: String) { write(text, to: .standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // Nobody is left to be told when this fails.
        try? handle.write(contentsOf: Data((text + "\n").utf8))
    }
}

extension Duration {
    /// In seconds, with fractions.
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
