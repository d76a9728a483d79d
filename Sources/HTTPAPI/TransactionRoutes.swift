import Domain
import Hummingbird
import JSON

/// What Apple knows by transaction id: one transaction, or Apple's lists in Apple's order.
struct TransactionRoutes: Sendable {
    let gateway: any AppStoreGateway

    /// `GET …/transactions/{transactionId}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: ["environment", "include"])
        let includesSigned = try input.includesSigned()
        let transaction = try await gateway.transaction(try identifier(input), try call(app, input))
        let capacity = TransactionBody.capacity(CollectionOfOne(transaction), includesSigned: includesSigned)
        return Answer.object(capacity: capacity) {
            TransactionBody.write(transaction, includesSigned: includesSigned, to: &$0)
        }
    }

    /// `GET …/transactions/{transactionId}/history`.
    func history(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(
            besides: HistoryFilter.parameterNames.union(["environment", "include", "revision"]))
        let filter = try HistoryFilter(query: input.query)
        let pages = gateway.history(
            try identifier(input), filter: filter, from: try input.single("revision"), try call(app, input))
        return try await stream(pages, input)
    }

    /// `GET …/transactions/{transactionId}/refunds`.
    func refunds(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        try input.refuseUnknownQuery(besides: ["environment", "include", "revision"])
        let pages = gateway.refunds(
            try identifier(input), from: try input.single("revision"), try call(app, input))
        return try await stream(pages, input)
    }

    private func identifier(_ input: RequestInput) throws(ServiceError) -> String {
        let identifier = try input.parameter("transactionId")
        try TransactionID.check(identifier)
        return identifier
    }

    private func call(_ app: App, _ input: RequestInput) throws(ServiceError) -> UpstreamCall {
        UpstreamCall(app: app, environment: try input.environment(for: app), deadline: input.deadline)
    }

    /// Passes Apple's pages on as they come.
    ///
    /// The first is read before the status is sent, so that a request which fails outright is a problem answer; a
    /// failure later on closes the list with `complete: false` and the problem.
    private func stream(_ pages: TransactionPages, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let includesSigned = try input.includesSigned()
        var iterator = pages.makeAsyncIterator()
        guard let first = try await iterator.next(isolation: #isolation) else {
            throw ServiceError(.internalError, "Internal error.", cause: "a list without a first page")
        }
        let rest = iterator
        let requestID = input.requestID
        return Answer(
            status: .ok, contentType: Answer.json,
            body: .stream { output in
                try await Self.write(
                    first, then: rest, includesSigned: includesSigned, requestID: requestID, to: &output)
            })
    }

    @concurrent private static func write(
        _ first: TransactionPage, then rest: TransactionPages.Iterator, includesSigned: Bool, requestID: String,
        to output: inout any ResponseBodyWriter
    ) async throws {
        var iterator = rest
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.member("environment", first.environment.rawValue)
        writer.name("transactions")
        writer.beginArray()
        var page: TransactionPage? = first
        var revision = first.revision
        var failure: ServiceError?
        while let current = page {
            for transaction in current.transactions {
                writer.object { TransactionBody.write(transaction, includesSigned: includesSigned, to: &$0) }
            }
            revision = current.revision
            try await output.write(ByteBuffer(bytes: writer.takeBytes()))
            do throws(ServiceError) {
                page = try await iterator.next(isolation: #isolation)
            } catch {
                failure = error
                page = nil
            }
        }
        writer.endArray()
        writer.memberIfPresent("revision", revision)
        writer.member("complete", failure == nil)
        if let failure {
            writer.memberObject("problem") {
                ProblemResponse.write(
                    failure, status: ProblemResponse.status(of: failure), requestID: requestID, to: &$0)
            }
        }
        writer.endObject()
        try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        try await output.finish(nil)
    }
}
