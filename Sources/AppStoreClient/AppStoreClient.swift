import AppStoreAPI
package import Curl
package import Domain
import Foundation
package import Logging

/// The App Store Server API behind the port that our rules know.
///
/// Everything that it returns has been verified; everything that it throws is a `ServiceError`.
package struct AppStoreClient: AppStoreGateway {
    private let caller: UpstreamCaller
    private let decoder: TransactionDecoder
    private let environments: EnvironmentMemory
    private let meter: UpstreamMeter

    package init(
        configuration: UpstreamConfiguration, client: CurlClient, tokens: any TokenSource,
        verifier: SignedDataVerifier, memory: any TransactionMemory, retries: RetryPolicy = RetryPolicy(),
        now: @escaping WallClock, meter: UpstreamMeter, logger: Logger
    ) {
        caller = UpstreamCaller(
            configuration: configuration, client: client, tokens: tokens, retries: retries, now: now, meter: meter)
        decoder = TransactionDecoder(verifier: verifier)
        environments = EnvironmentMemory(store: memory, logger: logger)
        self.meter = meter
    }

    package func transaction(_ transactionID: String, _ call: UpstreamCall) async throws(ServiceError) -> Transaction {
        let request = UpstreamRequest(.getTransactionInfo(transactionId: transactionID))
        let (response, environment) = try await find(transactionID, request, call)
        let info: TransactionInfoResponse = try Self.parse(response) { try TransactionInfoResponse(parsing: $0) }
        guard let signed = info.signedTransactionInfo else {
            throw Self.malformed("signedTransactionInfo is missing")
        }
        return try decode(signed, call.app, environment)
    }

    package func historyPage(
        _ identifier: String, filter: HistoryFilter, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let query = HistoryQuery(filter, revision: revision)
        let request = UpstreamRequest(.getTransactionHistory(transactionId: identifier, query: query))
        let (response, environment) = try await find(identifier, request, call)
        let page: HistoryResponse = try Self.parse(response) { try HistoryResponse(parsing: $0) }
        return TransactionPage(
            transactions: try decode(page.signedTransactions ?? [], call.app, environment), revision: page.revision,
            hasMore: page.hasMore ?? false, environment: environment)
    }

    package func refundPage(
        _ identifier: String, revision: String?, _ call: UpstreamCall
    ) async throws(ServiceError) -> TransactionPage {
        let request = UpstreamRequest(.getRefundHistory(transactionId: identifier, revision: revision))
        let (response, environment) = try await find(identifier, request, call)
        let page: RefundHistoryResponse = try Self.parse(response) { try RefundHistoryResponse(parsing: $0) }
        return TransactionPage(
            transactions: try decode(page.signedTransactions ?? [], call.app, environment), revision: page.revision,
            hasMore: page.hasMore ?? false, environment: environment)
    }

    package func sendConsumption(
        _ answer: ConsumptionAnswer, transactionID: String, _ call: UpstreamCall
    ) async -> ConsumptionOutcome {
        let request = UpstreamRequest(consumption: answer, transactionID: transactionID)
        guard let environment = call.environment else {
            return ConsumptionOutcome(
                attempts: [],
                failure: ServiceError(.internalError, "Internal error.", cause: "consumption without an environment"),
                mayHaveReachedApple: false)
        }
        let outcome = await caller.call(request, app: call.app, in: environment, deadline: call.deadline)
        switch outcome.result {
        case .success:
            return ConsumptionOutcome(attempts: outcome.attempts, failure: nil, mayHaveReachedApple: true)
        case .failure(let failure):
            return ConsumptionOutcome(
                attempts: outcome.attempts, failure: failure.error, mayHaveReachedApple: outcome.mayHaveReachedApple)
        }
    }
}

// MARK: Environments

extension AppStoreClient {
    /// Asks about an identifier in the environment that it belongs to: the one given, the one remembered, or Production
    /// and, when Apple does not know it there, Sandbox.
    ///
    /// Source: https://developer.apple.com/documentation/appstoreserverapi (section on identifying rate limits and environments)
    private func find(
        _ identifier: String, _ request: UpstreamRequest, _ call: UpstreamCall
    ) async throws(ServiceError) -> (CurlResponse, AppStoreEnvironment) {
        var candidates: [AppStoreEnvironment]
        if let given = call.environment {
            candidates = [given]
        } else if let known = await environments.environment(of: identifier, app: call.app) {
            candidates = [known]
        } else {
            candidates = [.production, .sandbox].filter(call.app.environments.contains)
        }
        while !candidates.isEmpty {
            let environment = candidates.removeFirst()
            let outcome = await caller.call(request, app: call.app, in: environment, deadline: call.deadline)
            switch outcome.result {
            case .success(let response):
                await environments.remember(environment, of: identifier, app: call.app)
                return (response, environment)
            case .failure(let failure):
                guard failure.isElsewhere, !candidates.isEmpty else { throw failure.error }
            }
        }
        throw ServiceError(
            .environmentNotAllowed, "App `\(call.app.slug)` is not configured for any environment of Apple's.")
    }
}

// MARK: Answers

extension AppStoreClient {
    private func decode(
        _ signed: [String], _ app: App, _ environment: AppStoreEnvironment
    ) throws(ServiceError) -> [Transaction] {
        var transactions: [Transaction] = []
        transactions.reserveCapacity(signed.count)
        for text in signed { transactions.append(try decode(text, app, environment)) }
        return transactions
    }

    private func decode(
        _ signed: String, _ app: App, _ environment: AppStoreEnvironment
    ) throws(ServiceError) -> Transaction {
        do {
            let transaction = try decoder.transaction(signed, app: app, environment: environment)
            meter.countVerification("verified")
            return transaction
        } catch {
            meter.countVerification(error.reason.rawValue)
            throw error
        }
    }

    private static func parse<Model>(
        _ response: CurlResponse, _ parse: ([UInt8]) throws -> Model
    ) throws(ServiceError) -> Model {
        do {
            return try parse(response.body)
        } catch {
            throw malformed("\(error)")
        }
    }

    private static func malformed(_ cause: String) -> ServiceError {
        ServiceError(.appleAnswerInvalid, "Apple's answer cannot be read.", cause: cause)
    }
}
