import ArgumentParser
import Daemon
import Foundation

/// The command `purser call`.
struct CallSubcommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Call a method of the listener `grpc` with JSON.",
        discussion: """
            Each answer is shown as a line of JSON; a stream goes on until it ends or is interrupted. Exits with 1 when the \
            call fails, and then tells the status and the problem. docs/grpc.md says what there is to call.
            """)

    @Argument(help: "The method, such as ListCases or purser.v1.EventsService/WatchEvents.")
    var method: String

    @Argument(help: "The request, a JSON object with the names of api/openapi.yaml.")
    var request = "{}"

    @Option(help: "Where the daemon listens, such as 127.0.0.1:8082 or unix:/run/purser/grpc.sock.")
    var address = "127.0.0.1:8082"

    @Option(help: "A file with the token of a caller; without it, who calls is told by certificate or user id.")
    var tokenFile: String?

    @Option(help: "A PEM file of the authorities that vouch for the server, for TLS.")
    var ca: String?

    @Option(help: "A PEM file with the certificate that is shown to the server.")
    var certificate: String?

    @Option(help: "A PEM file with the key of that certificate.")
    var key: String?

    @Option(help: "The most seconds that the call may take.")
    var timeout: Int?

    @Option(help: "End after so many answers.")
    var limit: Int?

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--certificate and --key go together.")
        }
        guard certificate == nil || ca != nil else { throw ValidationError("--certificate takes --ca.") }
        for (name, value) in [("timeout", timeout), ("limit", limit)] {
            guard value.map({ $0 > 0 }) ?? true else { throw ValidationError("--\(name) takes 1 or more.") }
        }
    }

    func run() async throws {
        var options = CallCommand.Options(address: address)
        options.tokenFile = tokenFile
        options.authorities = ca
        if let certificate, let key { options.identity = (certificate, key) }
        options.timeout = timeout.map { .seconds($0) }
        options.limit = limit
        try await CallCommand(options).run(method, json: request) { line in
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
        }.finish()
    }
}
