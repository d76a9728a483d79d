import Domain
import HTTPTypes
import HummingbirdCore
import JSON
import NIOCore

/// Apple's lists by transaction id, in Apple's order, passed on as Apple's pages come in.
struct TransactionListRoutes: Sendable {
    let gateway: any AppStoreServerAPI

    /// `GET …/transactions/{transactionId}/history`; `version=1` reads Apple's deprecated endpoint.
    func history(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let isVersion1 = fields.wantsVersion1()
        let request = TransactionRequest(&fields, app, takesInclude: true)
        let filter = HistoryFilter(&fields)
        let revision = PagePosition.revision(&fields)
        guard fields.isValid, let request else { throw fields.error }
        let call = input.call(app, request.environment)
        let pages =
            isVersion1
            ? TransactionPages(from: revision, call) { [gateway] revision, call throws(ServiceError) in
                try await gateway.historyPageV1(request.identifier, filter: filter, revision: revision, call)
            }
            : gateway.history(request.identifier, filter: filter, from: revision, call)
        return try await stream(pages, includesSigned: request.includesSigned, requestID: input.requestID)
    }

    /// `GET …/transactions/{transactionId}/refunds`; `version=1` reads Apple's deprecated endpoint, which has no pages
    /// and takes an original transaction id.
    func refunds(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let isVersion1 = fields.wantsVersion1()
        let request = TransactionRequest(
            &fields, app, isVersion1 ? .originalTransaction : .transaction, takesInclude: true)
        let revision = isVersion1 ? nil : PagePosition.revision(&fields)
        guard fields.isValid, let request else { throw fields.error }
        let call = input.call(app, request.environment)
        let pages =
            isVersion1
            ? TransactionPages(from: nil, call) { [gateway] _, call throws(ServiceError) in
                try await gateway.refundsV1(originalTransactionID: request.identifier, call)
            }
            : gateway.refunds(request.identifier, from: revision, call)
        return try await stream(pages, includesSigned: request.includesSigned, requestID: input.requestID)
    }

    /// Passes Apple's pages on as they come.
    ///
    /// The first is read before the status is sent, so that a request which fails outright is a problem answer; a
    /// failure later on closes the list with `complete: false` and the problem.
    private func stream(
        _ pages: TransactionPages, includesSigned: Bool, requestID: String
    ) async throws(ServiceError) -> Answer {
        var iterator = pages.makeAsyncIterator()
        guard let first = try await iterator.next(isolation: #isolation) else {
            throw ServiceError(.internalError, "Internal error.", cause: "a list without a first page")
        }
        let rest = iterator
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
            ProblemResponse.writeMember(failure, requestID: requestID, to: &writer)
        }
        writer.endObject()
        try await output.write(ByteBuffer(bytes: writer.takeBytes()))
        try await output.finish(nil)
    }
}
