/// What a command of the operator has to say.
package struct CommandOutcome: Sendable, Equatable {
    /// How a program tells its caller how it went; the numbers above 1 are those of `sysexits.h`.
    package enum Status: Int32, Sendable {
        case success = 0
        case failure = 1
        /// The configuration is wrong (`EX_CONFIG`).
        case configuration = 78
    }

    package let status: Status
    /// For the standard output, with its last line end; often empty.
    package let output: String
    /// For the standard error, with its last line end; often empty.
    package let errorOutput: String

    package init(_ status: Status, output: String = "", errorOutput: String = "") {
        self.status = status
        self.output = output
        self.errorOutput = errorOutput
    }
}
