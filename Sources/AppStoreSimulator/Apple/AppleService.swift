import AppStoreAPI
import Foundation
import JSON
import OpenSSL

/// One of Apple's two servers: from a request to what goes out, faults included.
struct AppleService: Sendable {
    /// The longest request body that is read, in bytes, but for images.
    static let maximumBodyBytes = 65_536
    /// Length of a body that is garbage, in bytes.
    private static let garbageCount = 512

    let environment: SimulatedEnvironment
    let state: SimulatorState
    let authority: SigningAuthority
    /// Real time.
    let now: @Sendable () -> Date
    let sleep: @Sendable (Duration) async throws -> Void

    /// Answers a request and records it.
    ///
    /// - Throws: `CancellationError` when the connection or the listener ends during a delay.
    func deliver(_ request: IncomingRequest) async throws -> ResponseTransmission {
        let route = AppleRoute(method: request.method, path: request.path)
        let request = request.limited(to: Self.maximumBodyBytes(of: route))
        let token = Result { () throws(TokenFault) in try ReceivedToken(authorization: request.authorization) }
        let bundleID = (try? token.get())?.bundleID
        var faults = CallFaults([])
        if case .operation(let operation, _) = route {
            faults = CallFaults(
                state.withContent {
                    $0.faults.effects(on: operation, bundleID: bundleID, environment: environment)
                })
        }
        func call() -> AppleCall {
            AppleCall(
                request: request, token: token, time: state.clock.now + faults.clockSkew,
                realTime: now() + faults.clockSkew, tampering: faults.tampering)
        }
        if faults.latency > .zero {
            do {
                try await sleep(faults.latency)
            } catch {
                // It came in all the same, whoever has lost patience.
                record(call(), route, Self.abandoned, faults, wasReset: true)
                throw error
            }
        }
        let call = call()
        var outcome = outcome(of: call, route, faults)
        outcome.response.headers.append(("Date", HTTPDate.text(call.realTime)))
        let wasReset = faults.resetsBefore || faults.resetsAfter
        record(call, route, outcome, faults, wasReset: wasReset)
        if wasReset { return .reset }
        return faults.truncates ? .truncated(outcome.response) : .response(outcome.response)
    }

    /// What a call comes to.
    struct Outcome {
        var response: OutgoingResponse
        var errorCode: Int64?
        var reason: String?
    }

    private static let abandoned = Outcome(
        response: OutgoingResponse(status: 0), reason: "the connection ended during a delay")

    private func outcome(of call: AppleCall, _ route: AppleRoute, _ faults: CallFaults) -> Outcome {
        if faults.resetsBefore { return Outcome(response: OutgoingResponse(status: 0), reason: "reset by a fault") }
        if let fault = faults.statusOutcome { return fault }
        do throws(AppleServiceError) {
            var response = try answer(call, route)
            if faults.isGarbage { response.body = state.withContent { $0.faults.garbage(count: Self.garbageCount) } }
            return Outcome(response: response)
        } catch {
            return error.outcome
        }
    }

    private func answer(_ call: AppleCall, _ route: AppleRoute) throws(AppleServiceError) -> OutgoingResponse {
        switch route {
        case .unknown:
            throw .malformed(status: 404, "no such path")
        case .otherMethod(let allowed):
            var response = OutgoingResponse.text(405, "Method Not Allowed\n")
            response.headers.append(("Allow", allowed))
            return response
        case .operation(let operation, let parameters):
            let app = try authenticate(call)
            try state.withContent { content throws(AppleServiceError) in
                try content.rateLimiter.count(
                    operation, of: app.bundleID, in: environment, now: call.realTime.unixMilliseconds)
            }
            state.passTime()
            return try answer(operation, parameters, app, call)
        }
    }

    /// Answers a call whose caller is known and within the limits.
    private func answer(
        _ operation: Endpoint.Operation, _ parameters: [String], _ app: RegisteredApp, _ call: AppleCall
    ) throws(AppleServiceError) -> OutgoingResponse {
        let identifier = parameters.first ?? ""
        switch operation {
        case .getTransactionInfo: return try transactionInfo(identifier, app, call)
        case .getTransactionHistory: return try history(identifier, app, call, version: 2)
        case .getTransactionHistoryV1: return try history(identifier, app, call, version: 1)
        case .getRefundHistory: return try refundHistory(identifier, app, call)
        case .getRefundHistoryV1: return try refundHistoryV1(identifier, app, call)
        case .getAppTransactionInfo: return try appTransactionInfo(identifier, app, call)
        case .lookUpOrderID: return try orderLookup(identifier, app, call)
        case .setAppAccountToken: return try setAppAccountToken(identifier, app, call)
        case .finishTransaction: return try finishTransaction(identifier, app)
        case .sendConsumptionInformation: return try consumption(identifier, app, call, ConsumptionRequestRules.checkV2)
        case .sendConsumptionInformationV1:
            return try consumption(identifier, app, call, ConsumptionRequestRules.checkV1)
        case .getAllSubscriptionStatuses: return try subscriptionStatuses(identifier, app, call)
        case .extendSubscriptionRenewalDate: return try extendRenewalDate(identifier, app, call)
        case .extendSubscriptionRenewalDatesForAllActiveSubscribers: return try extendRenewalDates(app, call)
        case .getStatusOfSubscriptionRenewalDateExtensions: return try extensionStatus(parameters, app)
        case .getNotificationHistory: return try notificationHistory(app, call)
        case .requestTestNotification: return try requestTestNotification(app, call)
        case .getTestNotificationStatus: return try testNotificationStatus(identifier, app, call)
        case .uploadImage, .deleteImage, .getImageList, .uploadMessage, .deleteMessage, .getMessageList,
            .configureDefaultMessage, .deleteDefaultMessage, .getDefaultMessage, .configureRealtimeURL,
            .deleteRealtimeURL, .getRealtimeURL, .initiatePerformanceTest, .getPerformanceTestResults:
            return try messaging(operation, parameters, app, call)
        case .requestRefund, .cancelSubscription, .revokeSubscription, .changeSubscriptionMetadata,
            .changeSubscriptionPrice, .migrateSubscription:
            return try advancedCommerce(operation, identifier, app, call)
        }
    }

    /// Checks the token and finds its app.
    private func authenticate(_ call: AppleCall) throws(AppleServiceError) -> RegisteredApp {
        let (keys, apps) = state.withContent { ($0.world.keys, $0.world.apps) }
        let token: ReceivedToken
        do throws(TokenFault) {
            token = try call.token.get()
            try token.check(keys: keys, now: call.realTime)
        } catch {
            throw .unauthenticated(error)
        }
        guard let app = token.bundleID.flatMap({ apps[$0] }) else { throw .error(.appNotFound) }
        guard app.issuerID == token.keyID.flatMap({ keys[$0] })?.issuerID else { throw .unauthenticated(.otherTeam) }
        guard environment == .sandbox || app.isReleasedToProduction else { throw .unauthenticated(.notReleased) }
        return app
    }

    // MARK: What many calls need

    /// The app on this server.
    func inEnvironment(_ app: RegisteredApp) -> AppInEnvironment {
        AppInEnvironment(bundleID: app.bundleID, environment: environment)
    }

    /// The members of a JSON body.
    ///
    /// - Throws: a status without a number for what is not one JSON object.
    func members(of call: AppleCall) throws(AppleServiceError) -> JSONMembers {
        guard let body = call.request.body else { throw .malformed(status: 413, "the body is too long") }
        guard Self.isJSON(call.request.contentType) else {
            throw .malformed(status: 415, "Content-Type is not application/json")
        }
        do throws(JSONError) {
            return try JSONScanner.members(of: body)
        } catch {
            throw .malformed(status: 400, "the body is not one JSON object: \(error)")
        }
    }

    /// Parameters such as the character set do not matter.
    static func isJSON(_ contentType: String?) -> Bool {
        let type = contentType?.prefix { $0 != ";" }.lowercased()
        return type?.filter { $0 != " " && $0 != "\t" } == "application/json"
    }

    func sign(_ transactions: [TransactionPayload], _ call: AppleCall) throws(AppleServiceError) -> [String] {
        do throws(OpenSSLError) {
            return try transactions.map { (payload) throws(OpenSSLError) in
                guard let tampering = call.tampering else { return try authority.sign(payload, at: call.time) }
                return try authority.sign(payload, at: call.time, tampering)
            }
        } catch {
            throw .error(.generalInternal, message: "signing failed: \(error)")
        }
    }

    /// Signs a payload that is not a transaction, with what a fault wants wrong about the signature.
    func sign(_ payload: [UInt8], _ call: AppleCall) throws(AppleServiceError) -> String {
        do throws(OpenSSLError) {
            guard let tampering = call.tampering else { return try authority.sign(payload) }
            return try authority.sign(payload, at: call.time, tampering)
        } catch {
            throw .error(.generalInternal, message: "signing failed: \(error)")
        }
    }
}

/// Which call a path means.
enum AppleRoute: Sendable, Equatable {
    /// The call with its path parameters, percent-decoded.
    case operation(Endpoint.Operation, parameters: [String])
    /// The path is right, the method is not.
    case otherMethod(allowed: String)
    case unknown

    init(method: String, path: Substring) {
        switch Endpoint.Operation.match(method: method, path: path) {
        case .found(let operation, let parameters):
            self = .operation(operation, parameters: parameters.map { String(percentDecoding: $0) })
        case .otherMethod(let allowed): self = .otherMethod(allowed: allowed.joined(separator: ", "))
        case .unknown: self = .unknown
        }
    }
}

/// A request on its way through the service.
struct AppleCall: Sendable {
    let request: IncomingRequest
    let token: Result<ReceivedToken, TokenFault>
    /// The simulated time, which a fault may have set wrong; what is done and signed is dated by it.
    let time: Date
    /// The real time, which the same fault may have set wrong; callers' tokens are judged and their calls counted by it.
    let realTime: Date
    let tampering: Tampering?

    /// The simulated time, UNIX milliseconds.
    var milliseconds: Int64 { time.unixMilliseconds }
}
