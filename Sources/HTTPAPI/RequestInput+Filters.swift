import Domain
import Foundation

// What the lists that are kept in the store are filtered by.

extension RequestInput {
    /// The values of a query parameter that may be repeated; none means all.
    ///
    /// - Throws: `invalidRequest`.
    func choices<Choice: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Choice.Type
    ) throws(ServiceError) -> Set<Choice> where Choice.RawValue == String {
        var choices: Set<Choice> = []
        for parameter in query where parameter.name == name {
            guard let choice = Choice(rawValue: parameter.value) else {
                let known = Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                throw .invalid([
                    Violation(
                        field: name, rule: "enum",
                        message: "`\(name)` must be one of \(known); it may be given several times.")
                ])
            }
            choices.insert(choice)
        }
        return choices
    }

    /// The query parameter `user`.
    ///
    /// - Throws: `invalidRequest`.
    func userFilter() throws(ServiceError) -> UserID? {
        guard let text = try single("user") else { return nil }
        return try UserID(text)
    }

    /// The query parameter `transactionId`.
    ///
    /// - Throws: `invalidRequest`.
    func transactionFilter() throws(ServiceError) -> String? {
        guard let text = try single("transactionId") else { return nil }
        try AppleIdentifier.transaction.check(text, field: "transactionId")
        return text
    }

    /// A query parameter that is a time.
    ///
    /// - Throws: `invalidRequest`.
    func time(_ name: String) throws(ServiceError) -> Date? {
        guard let text = try single(name) else { return nil }
        guard let date = Timestamp.date(text) else {
            throw .invalid([
                Violation(
                    field: name, rule: "format",
                    message: "`\(name)` must be an RFC 3339 time, such as 2026-01-31T12:00:00Z.")
            ])
        }
        return date
    }

    /// A query parameter that is a whole number.
    ///
    /// - Throws: `invalidRequest`.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(ServiceError) -> Int? {
        guard let text = try single(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalid([
                Violation(
                    field: name, rule: "range",
                    message: "`\(name)` is an integer from \(range.lowerBound) to \(range.upperBound).")
            ])
        }
        return number
    }
}
