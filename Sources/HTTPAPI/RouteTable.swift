package import Domain
import Foundation
package import HTTPTypes

/// The routes of a listener as a tree of path segments: finding one costs a few comparisons of bytes, however many there are.
///
/// Empty segments count as not there. In one place a literal wins over a verb such as `{caseId}:decline`, and that over a
/// parameter: identifiers hold no colon that a verb could follow. Nothing is tried twice.
struct RouteTable: Sendable {
    /// What a path leads to.
    enum Match {
        case unknown
        /// The path exists, but not with this method; the others in the form of the `Allow` field (RFC 9110 section 10.2.1).
        case otherMethod(allowed: String)
        /// The route's number in the table, and its parameters in the order of the path, percent-encoded still.
        case found(Int, parameters: [(name: String, value: Substring)])
    }

    private struct Node: Sendable {
        var literals: [(bytes: [UInt8], node: Int)] = []
        var verbs: [(suffix: [UInt8], parameter: String, node: Int)] = []
        var parameter: (name: String, node: Int)?
        /// The routes that end here, by method.
        var routes: [(method: HTTPRequest.Method, route: Int)] = []
        /// Their methods, as `Allow` has them.
        var allowed = ""
    }

    private var nodes = [Node()]

    /// Whatever takes GET takes HEAD too (RFC 9110 section 9.3.2).
    ///
    /// `routes`: method and path of each; in the path, `{name}` is a parameter, which a verb may follow.
    init(_ routes: [(method: HTTPRequest.Method, path: String)]) {
        for (number, (method, path)) in routes.enumerated() {
            var node = 0
            for segment in path.split(separator: "/") { node = child(of: node, segment) }
            nodes[node].routes.append((method, number))
            let methods = nodes[node].routes.map(\.method)
            let allowed = Set(methods.contains(.get) ? methods + [.head] : methods)
            nodes[node].allowed = allowed.map(\.rawValue).sorted().joined(separator: ", ")
        }
    }

    /// What a request's path, percent-encoded and without its query, means.
    func match(_ method: HTTPRequest.Method, _ path: String) -> Match {
        var node = 0
        var parameters: [(name: String, value: Substring)] = []
        let bytes = path.utf8
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.endIndex
            if start < end {
                guard let next = step(from: node, path[start..<end], &parameters) else { return .unknown }
                node = next
            }
            start = end < bytes.endIndex ? bytes.index(after: end) : end
        }
        let routes = nodes[node].routes
        let method = method == .head ? .get : method
        if let found = routes.first(where: { $0.method == method }) {
            return .found(found.route, parameters: parameters)
        }
        return routes.isEmpty ? .unknown : .otherMethod(allowed: nodes[node].allowed)
    }

    private func step(
        from node: Int, _ segment: Substring, _ parameters: inout [(name: String, value: Substring)]
    ) -> Int? {
        let node = nodes[node]
        for literal in node.literals where segment.utf8.elementsEqual(literal.bytes) { return literal.node }
        for verb in node.verbs where segment.utf8.count >= verb.suffix.count {
            let value = segment.utf8.dropLast(verb.suffix.count)
            guard segment.utf8[value.endIndex...].elementsEqual(verb.suffix) else { continue }
            parameters.append((verb.parameter, Substring(value)))
            return verb.node
        }
        guard let parameter = node.parameter else { return nil }
        parameters.append((parameter.name, segment))
        return parameter.node
    }

    /// The node behind a segment of a route, made if there is none yet.
    private mutating func child(of node: Int, _ segment: Substring) -> Int {
        guard segment.first == "{", let end = segment.firstIndex(of: "}") else {
            let bytes = Array(segment.utf8)
            if let known = nodes[node].literals.first(where: { $0.bytes == bytes }) { return known.node }
            nodes[node].literals.append((bytes, nodes.count))
            return append()
        }
        let name = String(segment[segment.index(after: segment.startIndex)..<end])
        let suffix = Array(segment[segment.index(after: end)...].utf8)
        guard suffix.isEmpty else {
            if let known = nodes[node].verbs.first(where: { $0.suffix == suffix }) { return known.node }
            nodes[node].verbs.append((suffix, name, nodes.count))
            return append()
        }
        if let known = nodes[node].parameter { return known.node }
        nodes[node].parameter = (name, nodes.count)
        return append()
    }

    private mutating func append() -> Int {
        nodes.append(Node())
        return nodes.count - 1
    }
}

/// One line of a path table.
package struct Route: Sendable {
    typealias Handler = @Sendable (RequestInput) async throws(ServiceError) -> Answer
    typealias AppHandler = @Sendable (App, RequestInput) async throws(ServiceError) -> Answer

    /// Who may call.
    enum Access: Sendable {
        /// Anyone who reaches the listener.
        case open
        /// Any caller that authenticates.
        case authenticated
        /// A caller with this scope for the path's app.
        case scope(Scope)
        /// A caller with at least one of these for the path's app: each shows a part of the answer.
        case anyScope([Scope])
        /// A caller with this scope for any app: which one it is about, the request's body says.
        case scopeAnywhere(Scope)
    }

    /// What a route takes behind the head of a request.
    enum Body: Sendable {
        /// Nothing: what comes is refused, but with GET and HEAD, where it is left unread.
        case none
        /// One JSON object.
        case json
        /// One JSON object or nothing, which counts as an empty object.
        case optionalJSON
        /// A PEM file with a secret: it never becomes text, and what it came in is wiped.
        case secretPEM
    }

    package let method: HTTPRequest.Method
    /// With parameters in braces, as in `/v1/apps/{app}`.
    package let path: String
    let access: Access
    let body: Body
    /// Whether what the request asks for goes on after an early answer: `Prefer: wait` bounds the answer alone.
    let goesOn: Bool
    /// The largest body, in bytes; a listener may take less.
    private(set) var maximumBodyBytes = Self.usualBodyBytes
    /// What failures of this route look like that are no problems of ours; nil where all are.
    private(set) var failureAnswer: (@Sendable (ServiceError) -> Answer?)?
    /// Where the path's app must be found; nil for a route without one.
    let apps: AppCatalog?
    let handler: Handler

    /// The largest body of most routes, in bytes.
    package static let usualBodyBytes = 1 << 20

    /// A route without an app.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, body: Body = .none,
        handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.body = body
        goesOn = false
        apps = nil
        self.handler = handler
    }

    /// A route below `/v1/apps/{app}`.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ scope: Scope, in apps: AppCatalog,
        body: Body = .none, goesOn: Bool = false, handler: @escaping AppHandler
    ) {
        self.init(method, path, .scope(scope), in: apps, body: body, goesOn: goesOn, handler: handler)
    }

    /// A route below `/v1/apps/{app}` whose answer has parts with scopes of their own.
    init(
        _ method: HTTPRequest.Method, _ path: String, anyOf scopes: [Scope], in apps: AppCatalog,
        handler: @escaping AppHandler
    ) {
        self.init(method, path, .anyScope(scopes), in: apps, body: .none, goesOn: false, handler: handler)
    }

    /// A route below `/v1/apps/{app}` with any other access.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, in apps: AppCatalog, body: Body,
        goesOn: Bool = false,
        handler: @escaping AppHandler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.body = body
        self.goesOn = goesOn
        self.apps = apps
        self.handler = { input throws(ServiceError) in
            try await handler(try apps.app(try input.parameter("app")), input)
        }
    }

    /// The scopes of which the route needs one; none where it needs none.
    package var scopes: [Scope] {
        switch access {
        case .open, .authenticated: []
        case .scope(let scope), .scopeAnywhere(let scope): [scope]
        case .anyScope(let scopes): scopes
        }
    }

    /// The same route with larger bodies, and with failures of a form of its own.
    func taking(bodyBytes: Int, failingAs failureAnswer: (@Sendable (ServiceError) -> Answer?)? = nil) -> Route {
        var route = self
        route.maximumBodyBytes = bodyBytes
        route.failureAnswer = failureAnswer
        return route
    }
}
