/// One kind of value: what it must be, in words for the operator, and how its text is read.
struct ConfigurationValue<Value> {
    /// Completes the sentence "must be …".
    let expectation: String
    /// Whether the text could be a secret, so that no message repeats it.
    var isSecret = false
    /// `nil` when the text is no such value.
    let parse: (String) -> Value?

    /// What is wrong with a text that cannot be read.
    func complaint(about text: String) -> String {
        guard !isSecret else { return "The value must be \(expectation)." }
        return "The value must be \(expectation), not `\(text.prefix(200))`."
    }
}

extension ConfigurationValue where Value: RawRepresentable<String> & CaseIterable {
    /// One of a fixed set of words.
    static var oneOf: Self {
        let words = Value.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        return Self(expectation: "one of \(words)") { Value(rawValue: $0) }
    }
}

extension ConfigurationValue<Bool> {
    static var bool: Self { Self(expectation: "`true` or `false`") { Bool($0) } }
}

extension ConfigurationValue<Int> {
    /// A whole number.
    static func count(_ range: ClosedRange<Int>) -> Self {
        Self(expectation: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A whole number of percent.
    static func percent(_ range: ClosedRange<Int>) -> Self {
        Self(expectation: "a share such as `20%`, from \(range.lowerBound)% to \(range.upperBound)%") { text in
            guard text.hasSuffix("%") else { return nil }
            return Int(text.dropLast()).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number of bytes, plain or with a binary unit.
    static func bytes(_ range: ClosedRange<Int>) -> Self {
        let bounds = "\(ByteCount.text(range.lowerBound)) to \(ByteCount.text(range.upperBound))"
        return Self(expectation: "a size in bytes such as `1048576`, `64KiB` or `8MiB`, from \(bounds)") { text in
            ByteCount.parse(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ConfigurationValue<Duration> {
    /// A whole number with a unit.
    static func duration(_ range: ClosedRange<Duration>) -> Self {
        let bounds = "\(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))"
        return Self(expectation: "a duration such as `250ms`, `5s`, `10m`, `1h` or `30d`, from \(bounds)") { text in
            DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}
