import Domain
import JSON

/// The transaction object of our API: Apple's decoded payload, spliced in byte for byte.
enum TransactionBody {
    /// Room that the members around the payload take.
    static let overhead = 128

    static func write(_ transaction: Transaction, includesSigned: Bool, to writer: inout JSONWriter) {
        writer.memberRaw("transaction", transaction.payload)
        writer.member("environment", transaction.environment.rawValue)
        writer.member("verified", true)
        if includesSigned { writer.member("signed", transaction.signed) }
    }

    /// The capacity that an answer with these transactions needs.
    static func capacity(_ transactions: some Collection<Transaction>, includesSigned: Bool) -> Int {
        transactions.reduce(256) { size, transaction in
            size + overhead + transaction.payload.count + (includesSigned ? transaction.signed.utf8.count : 0)
        }
    }
}
