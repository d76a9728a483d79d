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

    package let method: HTTPRequest.Method
    /// With parameters in braces, as in `/v1/apps/{app}`.
    package let path: String
    let access: Access
    /// Whether the route takes a JSON body.
    let takesBody: Bool
    let handler: Handler

    /// A route without an app.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ access: Access, handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        takesBody = false
        self.handler = handler
    }

    /// A route below `/v1/apps/{app}`.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ scope: Scope, in apps: AppCatalog,
        handler: @escaping AppHandler
    ) {
        self.method = method
        self.path = path
        access = .scope(scope)
        takesBody = method == .post
        self.handler = { input throws(ServiceError) in
            try await handler(try apps.app(try input.parameter("app")), input)
        }
    }

    /// The scope that the route needs, if any.
    package var scope: Scope? {
        if case .scope(let scope) = access { scope } else { nil }
    }
}
