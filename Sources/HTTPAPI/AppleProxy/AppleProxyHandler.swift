package import Domain
import Foundation
import HTTPTypes
package import HummingbirdCore
package import Logging
package import Metrics
package import NIOCore
import TraceContext

/// An Apple-compatible door: Apple's paths, bodies, statuses and error bodies for the programs of one environment.
///
/// Authentication, path, scope, environment, body limit and access log, in that order; then the call itself.
package struct AppleProxyHandler: Sendable {
    /// The largest body of a call that uploads no image, in bytes.
    package static let maximumJSONBytes = 1 << 20

    private let current: RequestHandler.CurrentOptions
    private let calls: AppleProxyCalls
    private let authenticator: Authenticator
    private let accessLog: AccessLog
    let meter: RequestMeter
    let clock: HTTPDateClock
    let now: WallClock
    let makeRequestID: @Sendable () -> String

    /// A door to one environment.
    ///
    /// `now` dates the `Date` and `Retry-After` headers.
    package init(
        _ options: RequestHandler.CurrentOptions, calls: AppleProxyCalls, authenticator: Authenticator,
        metrics: any MetricsFactory,
        now: @escaping WallClock, makeRequestID: @escaping @Sendable () -> String, logger: Logger
    ) {
        current = options
        self.calls = calls
        self.authenticator = authenticator
        meter = RequestMeter(listener: options.value.name, factory: metrics)
        clock = HTTPDateClock(now: now)
        self.now = now
        self.makeRequestID = makeRequestID
        accessLog = AccessLog(logger: logger)
    }

    /// What a listener calls for every request: answers it; every failure becomes an answer as Apple would give it.
    ///
    /// Cancelled when the client goes away.
    ///
    /// `slot`: the request's place among those that are worked on.
    package func respond(
        to request: Request, from channel: any Channel, slot: (any RequestSlot)? = nil
    ) async -> Response {
        let options = current.value
        let headers = RequestHeaders(request.headers, trustsProxy: !options.trustedProxies.isEmpty)
        return await options.tracing.serve(request.method.rawValue, within: TraceParent(headers)) {
            await answer(to: request, headers, options, from: channel, slot: slot)
        } shown: {
            $0.record.traced
        }.response
    }

    private func answer(
        to request: Request, _ headers: RequestHeaders, _ options: RequestHandler.Options, from channel: any Channel,
        slot: (any RequestSlot)?
    ) async -> (response: Response, record: AccessRecord) {
        let start = ContinuousClock.now
        var record = AccessRecord(
            listener: options.name, method: request.method,
            requestID: RequestID.sane(headers[.xRequestID]) ?? makeRequestID())
        var response: Response
        do {
            try headers.check()
            let finding = try authenticator.caller(of: headers, from: channel, trusting: options.trustedProxies)
            if let slot, !slot.belongs(to: finding.found.caller.name, showing: headers[.authorization]) {
                let refusal = AppleProxyRefusal.overload(now: now())
                    .response(to: request, requestID: record.requestID, meter, clock)
                record.status = refusal.status
                return (refusal, record)
            }
            response = try await answer(
                request, headers, channel, finding, options, deadline: start + options.deadline, &record)
        } catch let error as ServiceError {
            record.failure = error
            response = AppleProxyRefusal.response(to: error, now: now())
        } catch {
            let wrapped = ServiceError(.internalError, "Internal error.", cause: "\(type(of: error)): \(error)")
            record.failure = wrapped
            response = AppleProxyRefusal.response(to: wrapped, now: now())
        }
        if request.method == .head { response = response.createHeadResponse() }
        response.headers[.date] = clock.text()
        response.headers[.cacheControl] = "no-store"
        response.headers[.xRequestID] = record.requestID
        record.status = response.status
        record.duration = start.duration(to: .now)
        meter.count(record)
        accessLog.write(record)
        return (response, record)
    }

    private func answer(
        _ request: Request, _ headers: RequestHeaders, _ channel: any Channel, _ finding: Authenticator.Finding,
        _ options: RequestHandler.Options, deadline: ContinuousClock.Instant, _ record: inout AccessRecord
    ) async throws -> Response {
        // Apple's paths name no app, so that the credential must; with any other a caller that is allowed a second app would
        // ask for something else than before.
        guard let app = finding.found.app else {
            throw authenticator.withoutApp(headers, from: channel, trusting: options.trustedProxies)
        }
        let bearer = (caller: finding.found.caller, app: app)
        record.caller = bearer.caller.name
        let call: AppleProxyCall
        switch calls.match(request) {
        case .unknown: return Response(status: .notFound)
        case .otherMethod(let allowed):
            return Response(
                status: .methodNotAllowed, headers: [.allow: allowed.sorted().joined(separator: ", ")])
        case .found(let found): call = found
        }
        record.route = call.name
        try bearer.caller.require(call.scope, for: bearer.app.slug)
        try calls.requireEnvironment(of: bearer.app)
        let limit = call.kind == .imageUpload ? options.maximumBodyBytes : Self.maximumJSONBytes
        let body = try await RequestBodyReader.collect(
            request, maximumBytes: min(limit, options.maximumBodyBytes))
        let answer = try await calls.answer(call, request, headers, body, bearer, deadline: deadline)
        if request.method == .get { try authenticator.check(finding) }
        return answer
    }
}
