package import Domain
package import HTTPTypes
package import HummingbirdCore
package import Logging
package import Metrics
package import NIOCore
import Synchronization
package import TraceContext

/// One listener of the API: a path table behind request id, authentication, body limit and access log, in that order.
package struct RequestHandler: Sendable {
    /// What a listener is called, and its bounds.
    package struct Options: Sendable {
        /// The listener's name, for logs and metrics.
        package var name: String
        /// The largest request body, in bytes.
        package var maximumBodyBytes: Int
        /// How long a request may take, upstream calls and waits included.
        package var deadline: Duration
        /// Who is believed about where a request came from.
        package var trustedProxies: TrustedProxies
        /// Whether whoever asks is an operator, by the peer credentials of its connection.
        package var isForOperators: Bool
        /// Who makes spans of requests.
        package var tracing = TraceScope()

        package init(
            name: String, maximumBodyBytes: Int, deadline: Duration,
            trustedProxies: TrustedProxies = TrustedProxies(), isForOperators: Bool = false
        ) {
            self.name = name
            self.maximumBodyBytes = maximumBodyBytes
            self.deadline = deadline
            self.trustedProxies = trustedProxies
            self.isForOperators = isForOperators
        }
    }

    /// How a request came about that no client of HTTP has sent: by a call of another protocol, of which it is the translation.
    package struct Call: Sendable {
        /// How long its client waits; nil for as long as the listener's requests may take.
        package var timeout: Duration?
        /// The violations of its message, which only a caller with the route's scope receives.
        package var violations: [Violation]
        /// Whether its message names no app, so that it is not known for which app the caller needs the scope.
        package var lacksApp: Bool

        package init(timeout: Duration? = nil, violations: [Violation] = [], lacksApp: Bool = false) {
            self.timeout = timeout
            self.violations = violations
            self.lacksApp = lacksApp
        }

        /// How long the route may take, so that its answer is with the client before that gives up.
        fileprivate var deadline: Duration? { timeout.map { $0 - min($0 / 10, .milliseconds(100)) } }
    }

    private let current: CurrentOptions
    private let routes: [Route]
    private let table: RouteTable
    private let authenticator: Authenticator?
    private let accessLog: AccessLog
    let meter: RequestMeter
    let clock: HTTPDateClock
    private let now: WallClock
    let makeRequestID: @Sendable () -> String
    let overload: OverloadResponse

    /// The options of a listener, which can be replaced while it serves; a request reads them where it needs them.
    package final class CurrentOptions: Sendable {
        private let options: Mutex<Options>

        package init(_ options: Options) { self.options = Mutex(options) }

        /// As they are at this moment.
        package var value: Options { options.withLock(\.self) }

        /// Puts others in their place, of the same listener.
        package func replace(with options: Options) { self.options.withLock { $0 = options } }
    }

    private var options: Options { current.value }

    /// A listener with these routes whose options stay as they are; otherwise like the other one.
    package init(
        _ options: Options, routes: [Route], authenticator: Authenticator?, metrics: any MetricsFactory,
        now: @escaping WallClock, makeRequestID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.init(
            CurrentOptions(options), routes: routes, authenticator: authenticator, metrics: metrics, now: now,
            makeRequestID: makeRequestID, logger: logger)
    }

    /// A listener with these routes.
    ///
    /// `authenticator` is nil for a listener that is open to whoever reaches its listener; `now` dates the `Date` header and
    /// tells whether a client's certificate has expired.
    package init(
        _ options: CurrentOptions, routes: [Route], authenticator: Authenticator?, metrics: any MetricsFactory,
        now: @escaping WallClock, makeRequestID: @escaping @Sendable () -> String, logger: Logger
    ) {
        current = options
        self.routes = routes
        table = RouteTable(routes.map { ($0.method, $0.path) })
        self.authenticator = authenticator
        meter = RequestMeter(listener: options.value.name, factory: metrics)
        clock = HTTPDateClock(now: now)
        self.now = now
        accessLog = AccessLog(logger: logger)
        self.makeRequestID = makeRequestID
        let placeholder = "00000000-0000-0000-0000-000000000000"
        overload = OverloadResponse(
            ProblemResponse.answer(.overloaded, requestID: placeholder), placeholder: placeholder)
    }

    /// What a listener calls for every request: answers it; every failure becomes a problem answer.
    ///
    /// Cancelled when the client goes away.
    ///
    /// `request`: what is asked; `channel`: the connection; `peerIdentity`: what the connection proves of its client;
    /// `slot`: what the request may let go while it waits; `call`: of what it is the translation, nil for a request of HTTP.
    package func respond(
        to request: Request, from channel: any Channel, provenBy peerIdentity: PeerIdentity = PeerIdentity(),
        slot: (any RequestSlot)? = nil, as call: Call? = nil
    ) async -> Response {
        let options = options
        let headers = RequestHeaders(request.headers, trustsProxy: !options.trustedProxies.isEmpty)
        return await options.tracing.serve(request.method.rawValue, within: TraceParent(headers)) {
            await answer(to: request, headers, options, from: channel, provenBy: peerIdentity, slot: slot, as: call)
        } shown: {
            $0.record.traced
        }.response
    }

    private func answer(
        to request: Request, _ headers: RequestHeaders, _ options: Options, from channel: any Channel,
        provenBy peerIdentity: PeerIdentity, slot: (any RequestSlot)?, as call: Call?
    ) async -> (response: Response, record: AccessRecord) {
        let start = ContinuousClock.now
        let requestID = RequestID.sane(headers[.xRequestID]) ?? makeRequestID()
        var record = AccessRecord(listener: options.name, method: request.method, requestID: requestID)
        let preferences = PreferHeader(headers)
        let peerIdentity = peerIdentity.valid(at: now())
        var route: Route?
        var answer: Answer
        do throws(ServiceError) {
            do throws(ServiceError) { try headers.check(RequestHeaders.readForAuthentication) } catch {
                // A route or method that does not exist is a 404 or 405 whatever the fields contain.
                _ = try find(request.method, request.uri.path)
                throw error
            }
            let finding = try authenticator?.caller(
                of: headers, from: channel, provenBy: peerIdentity, trusting: options.trustedProxies)
            record.caller = finding?.found.caller.name
            if let finding, let slot, !slot.belongs(to: finding.found.caller.name, showing: headers[.authorization]) {
                record.status = .serviceUnavailable
                return (overload.response(to: request, requestID: requestID, meter, clock), record)
            }
            let actor = try actor(options, finding?.found.caller, headers, peerIdentity)
            record.actor = actor
            let caller = options.isForOperators ? Caller(operator: actor) : finding?.found.caller
            let (found, parameters) = try find(request.method, request.uri.path)
            route = found
            record.route = found.path
            answer = try await respond(
                to: request,
                RequestContext(
                    options: options, requestID: requestID, start: start, headers: headers.withoutCredential,
                    preferences: preferences,
                    caller: caller,
                    actor: actor,
                    slot: slot, deadline: min(options.deadline, call?.deadline ?? options.deadline),
                    peer: channel.remoteAddress, peerIdentity: peerIdentity),
                found, parameters, call)
            // What was only read is not shown to somebody who was shut out meanwhile; what was done is told.
            if let authenticator, let finding, found.method == .get { try authenticator.check(finding) }
        } catch {
            record.failure = error
            answer = failure(error, request.method, request.uri.path, call == nil ? route : nil, requestID)
        }
        let applied = preferences.applied(goesOn: route?.goesOn ?? false)
        if request.method == .head { answer = await answer.withoutBody() }
        conclude(&record, answer.status, since: start)
        return (answer.response(requestID: requestID, date: clock.text(), preferenceApplied: applied), record)
    }

    /// What a listener calls when the head of a request has arrived, on the event loop: answers one that is refused whatever its body
    /// is, because nothing is under its path, or no app of that name.
    ///
    /// - Returns: nil for all others, and wherever it has to be known first who asks.
    package func refusal(of request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? {
        let options = options
        guard authenticator == nil, !options.isForOperators else { return nil }
        let start = ContinuousClock.now
        let path = URI(request.path ?? "").path
        var route: Route?
        do throws(ServiceError) {
            let (found, encoded) = try find(request.method, path)
            route = found
            _ = try Self.slug(of: found, try Self.decode(encoded))
            return nil
        } catch {
            let requestID = RequestID.sane(RequestHeaders(request.headerFields)[.xRequestID]) ?? makeRequestID()
            let answer = failure(error, request.method, path, route, requestID)
            var record = AccessRecord(listener: options.name, method: request.method, requestID: requestID)
            record.actor = .unauthenticated
            record.route = route?.path ?? record.route
            record.failure = error
            conclude(&record, answer.status, since: start)
            return answer.early(requestID: requestID, date: clock.text())
        }
    }

    /// The answer to a request that failed; `route`: whose form it may have, nil for a problem.
    private func failure(
        _ error: ServiceError, _ method: HTTPRequest.Method, _ path: String, _ route: Route?, _ requestID: String
    ) -> Answer {
        var answer = route?.failureAnswer?(error) ?? ProblemResponse.answer(error, requestID: requestID)
        if case .methodNotAllowed = error.reason { answer.headers[.allow] = allowedMethods(method, path) }
        return answer
    }

    /// Counts and logs a request that has its answer.
    private func conclude(
        _ record: inout AccessRecord, _ status: HTTPResponse.Status, since start: ContinuousClock.Instant
    ) {
        record.status = status
        record.duration = start.duration(to: .now)
        meter.count(record)
        accessLog.write(record)
    }

    /// What the stages of a listener know of a request.
    private struct RequestContext {
        let options: Options
        let requestID: String
        let start: ContinuousClock.Instant
        let headers: RequestHeaders
        let preferences: PreferHeader
        let caller: Caller?
        let actor: Actor
        let slot: (any RequestSlot)?
        /// How long it may take.
        let deadline: Duration
        /// The other end of the connection.
        let peer: SocketAddress?
        let peerIdentity: PeerIdentity
    }

    private func respond(
        to request: Request, _ context: RequestContext, _ route: Route,
        _ encoded: [(name: String, value: Substring)], _ call: Call?
    ) async throws(ServiceError) -> Answer {
        // First: a caller without the scope learns nothing of what the request contains.
        try route.admit(context.caller, encoded, lacksApp: call?.lacksApp ?? false)
        try context.headers.check()
        if let violations = call?.violations, !violations.isEmpty { throw .invalid(violations) }
        let (parameters, options) = (try Self.decode(encoded), context.options)
        let preferences = context.preferences
        let maximumBytes = min(route.maximumBodyBytes, options.maximumBodyBytes)
        let wait = route.goesOn ? nil : preferences.wait(goesOn: false).map(Duration.seconds)
        let input = RequestInput(
            requestID: context.requestID, headers: context.headers, preferences: preferences,
            parameters: parameters, query: try QueryString.parse(request.uri.query),
            body: try await RequestBodyReader.read(
                request, context.headers, route.body, maximumBytes: maximumBytes),
            secretBody: try await RequestBodyReader.readSecret(
                request, context.headers, route.body, maximumBytes: maximumBytes),
            hasUnexpectedBody: try await RequestBodyReader.hasUnexpected(
                request, route.body, maximumBytes: maximumBytes),
            caller: context.caller, actor: context.actor,
            deadline: context.start + min(context.deadline, wait ?? context.deadline),
            slot: context.slot, peer: context.peer, peerIdentity: context.peerIdentity,
            trustedProxies: options.trustedProxies)
        return try await route.handler(input)
    }

    /// Who acts: at the operators' listener whom the kernel names, elsewhere the caller.
    private func actor(
        _ options: Options, _ caller: Caller?, _ headers: RequestHeaders, _ peer: PeerIdentity
    ) throws(ServiceError) -> Actor {
        if options.isForOperators { return try OperatorName.actor(headers, peer) }
        return caller.map { .caller($0.name) } ?? .unauthenticated
    }

    private static func decode(
        _ encoded: [(name: String, value: Substring)]
    ) throws(ServiceError) -> [(name: String, value: String)] {
        var decoded: [(name: String, value: String)] = []
        decoded.reserveCapacity(encoded.count)
        for (name, value) in encoded {
            decoded.append((name, try PercentDecoding.decode(value, of: name, "The path parameter `\(name)`")))
        }
        return decoded
    }

    /// The app of a path; nil where the route has none.
    ///
    /// - Throws: `appNotFound`.
    private static func slug(
        of route: Route, _ parameters: [(name: String, value: String)]
    ) throws(ServiceError) -> String? {
        guard let apps = route.apps, let slug = parameters.first(where: { $0.name == "app" })?.value else { return nil }
        return try apps.app(slug).slug
    }

    private func find(
        _ method: HTTPRequest.Method, _ path: String
    ) throws(ServiceError) -> (Route, parameters: [(name: String, value: Substring)]) {
        switch table.match(method, path) {
        case .found(let number, let parameters): return (routes[number], parameters)
        case .otherMethod(let allowed):
            throw ServiceError(.methodNotAllowed, "This path takes \(allowed), not \(method.rawValue).")
        case .unknown:
            throw ServiceError(.routeNotFound, "There is no route under this path; `api/openapi.yaml` lists them.")
        }
    }

    /// The methods that the path takes, for the `Allow` header (RFC 9110 section 10.2.1).
    private func allowedMethods(_ method: HTTPRequest.Method, _ path: String) -> String {
        guard case .otherMethod(let allowed) = table.match(method, path) else { return "" }
        return allowed
    }
}
