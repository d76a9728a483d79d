package import Domain
package import HTTPTypes

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
    }

    /// What a route takes behind the head of a request.
    enum Body: Sendable {
        /// Nothing; what comes is left unread.
        case none
        /// One JSON object.
        case json
        /// One JSON object or nothing, which counts as an empty object.
        case optionalJSON
    }

    package let method: HTTPRequest.Method
    /// With parameters in braces, as in `/v1/apps/{app}`.
    package let path: String
    let access: Access
    let body: Body
    /// Whether what the request asks for goes on after an early answer: `Prefer: wait` bounds the answer alone.
    let goesOn: Bool
    let handler: Handler

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
        self.handler = handler
    }

    /// A route below `/v1/apps/{app}`.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ scope: Scope, in apps: AppCatalog,
        body: Body = .none, goesOn: Bool = false, handler: @escaping AppHandler
    ) {
        self.method = method
        self.path = path
        access = .scope(scope)
        self.body = body
        self.goesOn = goesOn
        self.handler = { input throws(ServiceError) in
            try await handler(try apps.app(try input.parameter("app")), input)
        }
    }

    /// The scope that the route needs, if any.
    package var scope: Scope? {
        if case .scope(let scope) = access { scope } else { nil }
    }
}
