package import Domain
import Foundation
import HTTPTypes
import Hummingbird
package import HummingbirdCore
package import Logging
package import Metrics
package import NIOCore

/// One face of the API: a path table behind request id, authentication, body limit and access log, in that order.
package struct Face: Sendable {
    /// Bounds and surroundings of a face.
    package struct Options: Sendable {
        /// The listener's name, for logs and metrics.
        package var name: String
        /// The largest request body, in bytes.
        package var maximumBodyBytes: Int
        /// How long a request may take, upstream calls and waits included.
        package var deadline: Duration

        package init(name: String, maximumBodyBytes: Int, deadline: Duration) {
            self.name = name
            self.maximumBodyBytes = maximumBodyBytes
            self.deadline = deadline
        }
    }

    private let options: Options
    private let routes: [Route]
    private let paths: Set<String>
    /// Those of routes whose work goes on after an early answer.
    private let pathsGoingOn: Set<String>
    private let responder: RouterResponder<FaceContext>
    private let authenticator: Authenticator?
    private let meter: RequestMeter
    private let clock: HTTPDateClock
    private let logger: Logger
    private let makeRequestID: @Sendable () -> String

    /// A face with these routes.
    ///
    /// `authenticator` is nil for a face that is open to whoever reaches its listener; `now` dates the `Date` header.
    package init(
        _ options: Options, routes: [Route], authenticator: Authenticator?, metrics: any MetricsFactory,
        now: @escaping WallClock, makeRequestID: @escaping @Sendable () -> String, logger: Logger
    ) {
        self.options = options
        self.routes = routes
        paths = Set(routes.map(\.path))
        pathsGoingOn = Set(routes.filter(\.goesOn).map(\.path))
        self.authenticator = authenticator
        meter = RequestMeter(face: options.name, factory: metrics)
        clock = HTTPDateClock(now: now)
        self.logger = logger
        self.makeRequestID = makeRequestID
        let router = Router(context: FaceContext.self)
        for route in routes {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await Self.respond(to: request, context, route, options)
            }
        }
        responder = router.buildResponder()
    }

    /// What a listener calls for every request: answers it; every failure becomes a problem answer.
    ///
    /// Cancelled when the client goes away.
    package func respond(to request: Request, from channel: any Channel) async -> Response {
        let start = ContinuousClock.now
        let requestID = RequestID.sane(request.headers[.xRequestID]) ?? makeRequestID()
        var record = AccessRecord(listener: options.name, method: request.method, requestID: requestID)
        var context = FaceContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        context.requestID = requestID
        context.start = start
        context.preferences = PreferHeader(request.headers)
        var response: Response
        do {
            context.caller = try authenticator?.caller(of: request, from: channel)
            response = try await responder.respond(to: request, context: context)
            // The router answers by itself, without a body, when it has no route.
            guard let path = context.endpointPath, paths.contains(path) else { throw unrouted(request) }
        } catch let error as ServiceError {
            record.failure = error
            response = ProblemResponse.answer(error, requestID: requestID).response(requestID: requestID)
        } catch {
            let wrapped = ServiceError(.internalError, "Internal error.", cause: "\(type(of: error)): \(error)")
            record.failure = wrapped
            response = ProblemResponse.answer(wrapped, requestID: requestID).response(requestID: requestID)
        }
        if response.status == .methodNotAllowed { response.headers[.allow] = allowedMethods(request.uri.path) }
        let goesOn = context.endpointPath.map(pathsGoingOn.contains) ?? false
        response.headers[.preferenceApplied] = context.preferences.applied(canRespondAsync: goesOn)
        response.headers[.date] = clock.text()
        if let path = context.endpointPath, paths.contains(path) { record.route = path }
        record.status = response.status
        record.caller = context.caller?.name
        record.duration = start.duration(to: .now)
        meter.count(record)
        record.write(to: logger)
        return response
    }

    private static func respond(
        to request: Request, _ context: FaceContext, _ route: Route, _ options: Options
    ) async throws -> Response {
        let parameters = try decode(context.parameters)
        if let scope = route.scope, let caller = context.caller, let app = parameters["app"] {
            try caller.require(scope, for: app)
        }
        let body = try await RequestBodyReader.read(
            request, route.body, maximumBytes: options.maximumBodyBytes)
        let wait = route.goesOn ? nil : context.preferences.wait.map(Duration.seconds)
        let input = RequestInput(
            requestID: context.requestID, headers: request.headers, preferences: context.preferences,
            parameters: parameters, query: try QueryString.parse(request.uri.query), body: body,
            caller: context.caller, deadline: context.start + min(options.deadline, wait ?? options.deadline))
        return try await route.handler(input).response(requestID: context.requestID)
    }

    private static func decode(_ parameters: Parameters) throws(ServiceError) -> [String: String] {
        var decoded: [String: String] = [:]
        for (name, value) in parameters {
            guard let text = value.removingPercentEncoding else {
                throw .invalid([
                    Violation(
                        field: String(name), rule: "encoding",
                        message: "The path parameter `\(name)` is not valid percent-encoded UTF-8.")
                ])
            }
            decoded[String(name)] = text
        }
        return decoded
    }
}

// MARK: Requests without a route

extension Face {
    private func unrouted(_ request: Request) -> ServiceError {
        allowedMethods(request.uri.path).isEmpty
            ? ServiceError(.routeNotFound, "There is no route under this path; `api/openapi.yaml` lists them.")
            : ServiceError(
                .methodNotAllowed,
                "This path takes \(allowedMethods(request.uri.path)), not \(request.method.rawValue).")
    }

    /// The methods that the path takes, for the `Allow` header (RFC 9110 section 10.2.1).
    private func allowedMethods(_ path: String) -> String {
        let segments = path.split(separator: "/")
        let matching = routes.filter { route in
            let pattern = route.path.split(separator: "/")
            return pattern.count == segments.count && zip(pattern, segments).allSatisfy(Self.matches)
        }
        // The router takes `1:finish` for the verb `:finish` and never for an identifier.
        let verbs = matching.filter { $0.path.contains("}:") }
        return (verbs.isEmpty ? matching : verbs).map(\.method.rawValue).sorted().joined(separator: ", ")
    }

    /// Whether a segment of a path fits one of a route, such as `{transactionId}:finish`; identifiers hold no colon.
    private static func matches(_ pattern: Substring, _ segment: Substring) -> Bool {
        guard pattern.first == "{", let end = pattern.firstIndex(of: "}") else { return pattern == segment }
        let suffix = pattern[pattern.index(after: end)...]
        return suffix.isEmpty || segment.hasSuffix(suffix)
    }
}
