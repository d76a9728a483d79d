/// Looks up many transactions at once.
package struct TransactionBatchService: Sendable {
    /// The most ids of one batch.
    package static let maximumCount = 100
    /// Calls to Apple at the same time.
    static let concurrentCalls = 8

    /// What became of one id.
    package struct Entry: Sendable {
        package let transactionID: String
        package let result: Result<Transaction, ServiceError>
    }

    private let gateway: any AppStoreGateway

    package init(gateway: any AppStoreGateway) { self.gateway = gateway }

    /// Reads the ids from a request body, each of them once, in the order given.
    ///
    /// - Returns: the ids; nil when a rule is broken.
    package static func identifiers(_ fields: inout FieldReader) -> [String]? {
        let given = fields.strings(
            "transactionIds", atMost: maximumCount, expected: "an array of 1 to \(maximumCount) transaction ids",
            element: "a transaction id", AppleIdentifier.transaction.appleError,
            where: AppleIdentifier.transaction.isValid)
        if let given, given.isEmpty {
            fields.note("transactionIds", "count", "`transactionIds` must hold at least one transaction id.")
        }
        var seen: Set<String> = []
        return given?.filter { seen.insert($0).inserted }
    }

    /// Asks Apple for each transaction; one that fails leaves the others alone.
    ///
    /// - Returns: one entry an id, in the order of the ids.
    package func transactions(_ identifiers: [String], _ call: UpstreamCall) async throws(ServiceError) -> [Entry] {
        let results = try await FanOut.results(
            of: identifiers, atMost: Self.concurrentCalls, isPartialAllowed: true
        ) { [gateway] identifier throws(ServiceError) in
            try await gateway.transaction(identifier, call)
        }
        return zip(identifiers, results).map(Entry.init)
    }
}
