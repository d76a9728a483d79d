import Domain
import Foundation
import Logging

/// One kind of value: what it must be, in words for the operator, and how its text is read.
struct ConfigurationValue<Value> {
    /// Whether the text could be a secret, so that no message repeats it.
    let isSecret: Bool
    /// `nil` when the text is no such value.
    let parse: (String) -> Value?
    private let describe: () -> String

    /// `expectation` is only put into words for somebody who is told: ten thousand apps have a value or two each.
    init(
        expectation: @autoclosure @escaping () -> String, isSecret: Bool = false, parse: @escaping (String) -> Value?
    ) {
        describe = expectation
        self.isSecret = isSecret
        self.parse = parse
    }

    /// Completes the sentence "must be …".
    var expectation: String { describe() }

    /// What is wrong with a text that cannot be read.
    func complaint(about text: String) -> String {
        guard !isSecret, QuotableText.isQuotable(text) else { return "The value must be \(expectation)." }
        return "The value must be \(expectation), not `\(text)`."
    }
}

extension ConfigurationValue where Value: RawRepresentable<String> & CaseIterable {
    /// One of a fixed set of words.
    static var oneOf: Self {
        Self(expectation: "one of " + Value.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")) {
            Value(rawValue: $0)
        }
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

extension ConfigurationValue<Int64> {
    /// Apple's number of an app.
    static var appAppleID: Self {
        Self(expectation: "Apple's number of the app, a positive whole number") { text in
            Int64(text).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

extension ConfigurationValue<[UInt8]> {
    /// A SHA-256 digest; somebody may paste the token itself, so no message repeats it.
    static var tokenDigest: Self {
        Self(
            expectation: "the SHA-256 of the token in 64 hexadecimal digits, as `purser callers hash` prints it",
            isSecret: true
        ) { text in
            let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 64, text.utf8.count == 64 else { return nil }
            return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        }
    }
}

extension ConfigurationValue<CallerBinding> {
    /// What of a connection stands for a caller.
    static func binding(_ kind: CallerBinding.Kind) -> Self {
        let expectation =
            kind == .certificate
            ? "a URI of a client certificate's subject alternative names, such as `spiffe://example.org/billing`"
            : "the number of a \(kind == .uid ? "user" : "group"), from 0 to 4294967294"
        return Self(expectation: expectation) { CallerBinding(kind, $0) }
    }
}

extension ConfigurationValue<String> {
    /// The name of an app in our paths, or of a caller.
    static var slug: Self {
        word("1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen", 1...63) { text in
            text.first != "-" && text.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
        }
    }

    /// Apple's id of a key.
    static var keyID: Self { Self(expectation: KeyFacts.keyIDRule) { KeyFacts.isKeyID($0) ? $0 : nil } }

    /// Apple's id of a team's App Store Connect account (RFC 9562 writes UUIDs so).
    static var issuerID: Self {
        word("the issuer id that App Store Connect shows above the keys, a UUID", 36...36) { text in
            UUID(uuidString: text) != nil
        }
    }

    /// An `appAccountToken`, in lower case as all of them are compared.
    static var appAccountToken: Self {
        Self(expectation: "an `appAccountToken`, a UUID") { ConsumptionRules.isUUID($0) ? $0.lowercased() : nil }
    }

    /// By what other systems know an app, in lower case.
    static var appFamilyID: Self {
        Self(expectation: "a UUID") { ConsumptionRules.isUUID($0) ? $0.lowercased() : nil }
    }

    /// A version that can be told to be older than another.
    static var wordingVersion: Self {
        word("a version such as `3`, `2.10` or `2026-05-25`, numbers with dots or hyphens between", 1...64) { text in
            WordingVersion(text) != nil
        }
    }

    static var bundleID: Self {
        word("a bundle id: letters, digits, hyphens and dots", 1...155) { text in
            text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
        }
    }

    /// A field of a JSON object.
    static var fieldName: Self {
        word("the name of a field, letters and digits", 1...64) { text in
            text.first?.isLetter == true && text.allSatisfy { $0.isLetter || $0.isNumber }
        }
    }

    /// A path; later errors quote it, so a key that begins with `/` is no path.
    static var absolutePath: Self {
        Self(expectation: "an absolute path") { text in
            let hasControls = text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            return text.hasPrefix("/") && !hasControls && !text.contains("-----BEGIN") ? text : nil
        }
    }

    /// A file of `$CREDENTIALS_DIRECTORY`; later errors quote it, so a token is no name.
    static var credentialName: Self {
        word("the name of a credential: letters, digits, `.`, `_` and `-`", 1...255) { text in
            text.first != "." && text.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
                && !text.hasPrefix(OpaqueToken.prefix)
        }
    }

    /// The base URL of a server, without its trailing slash.
    static var httpsURL: Self {
        Self(expectation: "an `https://` URL without user, query or fragment") { text in
            guard let url = URLComponents(string: text), url.scheme == "https", url.host?.isEmpty == false,
                url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
            else { return nil }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
    }

    /// The URL of a proxy; it may hold a password.
    static var proxyURL: Self {
        Self(expectation: "the URL of a proxy, such as `http://proxy:3128`", isSecret: true) { text in
            guard let url = URLComponents(string: text), url.host?.isEmpty == false,
                ["http", "https", "socks5", "socks5h"].contains(url.scheme ?? "")
            else { return nil }
            return text
        }
    }

    /// ASCII text of a bounded length that passes a test.
    private static func word(
        _ expectation: String, _ length: ClosedRange<Int>, where isValid: @escaping (String) -> Bool
    ) -> Self {
        Self(expectation: expectation) { text in
            length.contains(text.utf8.count) && text.utf8.allSatisfy { $0 < 0x80 } && isValid(text) ? text : nil
        }
    }
}

/// Sizes as the configuration writes them: bytes, or a whole number of binary units (IEC 80000-13).
enum ByteCount {
    private static let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]

    /// Reads a size; `nil` when it is none or too large to count.
    static func parse(_ text: String) -> Int? {
        let unit = units.first { text.hasSuffix($0.0) }
        let digits = text.dropLast(unit?.0.count ?? 0)
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(digits) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.1 ?? 1)
        return overflow ? nil : bytes
    }

    /// Writes a size in the largest unit that divides it.
    static func text(_ bytes: Int) -> String {
        guard let unit = units.first(where: { bytes >= $0.1 && bytes.isMultiple(of: $0.1) }) else { return "\(bytes)" }
        return "\(bytes / unit.1)\(unit.0)"
    }
}
