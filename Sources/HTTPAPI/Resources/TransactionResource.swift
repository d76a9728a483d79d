import Domain
import JSON

/// What Apple knows of single transactions, and what can be done with one.
struct TransactionRoutes: Sendable {
    let gateway: any AppStoreServerAPI
    let batch: TransactionBatchService
    let tokens: TokenService
    let stored: StoredStateService

    /// `GET …/transactions/{transactionId}`.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let given = TransactionRequest(&fields, app, takesInclude: true)
        let isStored = fields.wantsStored()
        guard fields.isValid, let request = given else { throw fields.error }
        let transaction: Transaction
        if isStored {
            transaction = try await stored.transaction(
                request.identifier, app: app, environment: request.environment)
        } else {
            transaction = try await gateway.transaction(request.identifier, input.call(app, request.environment))
        }
        let capacity = TransactionBody.capacity(
            CollectionOfOne(transaction), includesSigned: request.includesSigned)
        return Answer.object(capacity: capacity) { writer in
            // An erasure removes the signed form and leaves what it says of the purchase.
            let includesSigned = request.includesSigned && !transaction.signed.isEmpty
            TransactionBody.write(transaction, includesSigned: includesSigned, to: &writer)
            guard isStored else { return }
            writer.member("source", "stored")
            writer.member("asOf", Timestamp.text(transaction.signedDate))
        }
    }

    /// `GET …/transactions/{transactionId}/appTransaction`.
    func appTransaction(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let request = try input.transaction(app, takesInclude: true)
        let found = try await gateway.appTransaction(request.identifier, input.call(app, request.environment))
        return Answer.object(capacity: 512 + found.data.payload.count + found.data.signed.utf8.count) { writer in
            writer.memberRaw("appTransaction", found.data.payload)
            writer.member("environment", found.environment.rawValue)
            writer.member("verified", true)
            if request.includesSigned { writer.member("signed", found.data.signed) }
        }
    }

    /// `PUT …/transactions/{transactionId}/appAccountToken`.
    func setAppAccountToken(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let request = TransactionRequest(&fields, app, .originalTransaction)
        let token = AppAccountToken.read(&fields)
        guard fields.isValid, let request, let token else { throw fields.error }
        let environment = try await tokens.set(
            token, of: request.identifier, input.call(app, request.environment))
        return Answer.object { writer in
            writer.member("originalTransactionId", request.identifier)
            writer.member("appAccountToken", token)
            writer.member("environment", environment.rawValue)
        }
    }

    /// `POST …/transactions/{transactionId}:finish`.
    func finish(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        let request = try input.transaction(app)
        let environment = try await gateway.finish(request.identifier, input.call(app, request.environment))
        return Answer.object { writer in
            writer.member("transactionId", request.identifier)
            writer.member("environment", environment.rawValue)
        }
    }

    /// `POST …/transactions:batchGet`.
    func batchGet(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let includesSigned = fields.includesSigned()
        let environment = fields.environment(for: app)
        let identifiers = TransactionBatchService.identifiers(&fields)
        guard fields.isValid, let identifiers else { throw fields.error }
        let entries = try await batch.transactions(identifiers, input.call(app, environment))
        let capacity = TransactionBody.capacity(
            entries.compactMap { try? $0.result.get() }, includesSigned: includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.memberArray("transactions") { writer in
                for entry in entries {
                    writer.object { writer in
                        writer.member("transactionId", entry.transactionID)
                        switch entry.result {
                        case .success(let transaction):
                            TransactionBody.write(transaction, includesSigned: includesSigned, to: &writer)
                        case .failure(let error):
                            ProblemResponse.writeMember(error, requestID: input.requestID, to: &writer)
                        }
                    }
                }
            }
        }
    }
}

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

/// What Apple knows by order id.
struct OrderRoutes: Sendable {
    /// Apple's `status` of an order id that is none of the app's.
    private static let invalidStatus: Int64 = 1

    let gateway: any TransactionGateway

    /// `GET …/orders/{orderId}`: production only, as Apple has no such call in the sandbox.
    func get(_ app: App, _ input: RequestInput) async throws(ServiceError) -> Answer {
        var fields = try input.fields()
        let identifier = fields.identifier("orderId", .order, in: .path)
        Self.requireProduction(&fields, app)
        let includesSigned = fields.includesSigned()
        guard fields.isValid, let identifier else { throw fields.error }
        let order = try await gateway.order(identifier, input.call(app, .production))
        guard order.status != Self.invalidStatus else {
            throw ServiceError(.orderNotFound, "Apple knows no order `\(identifier)` of app `\(app.slug)`.")
        }
        let capacity = TransactionBody.capacity(order.transactions, includesSigned: includesSigned)
        return Answer.object(capacity: capacity) { writer in
            writer.member("orderId", identifier)
            writer.member("status", order.status)
            writer.memberArray("transactions") { writer in
                for transaction in order.transactions {
                    writer.object { TransactionBody.write(transaction, includesSigned: includesSigned, to: &$0) }
                }
            }
            writer.member("environment", order.environment.rawValue)
        }
    }

    private static func requireProduction(_ fields: inout FieldReader, _ app: App) {
        if fields.environment(for: app) == .sandbox {
            fields.note("environment", "enum", "Orders can only be looked up in `Production`.")
        } else {
            _ = fields.check { () throws(ServiceError) in try app.require(.production) }
        }
    }
}
