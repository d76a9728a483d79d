/// Base URLs (`https`, without a trailing slash) of servers that stand in for Apple's, such as the simulator.
package struct CustomUpstream: Sendable, Equatable {
    package let production: String
    package let sandbox: String

    package init(production: String, sandbox: String) {
        self.production = production
        self.sandbox = sandbox
    }
}
