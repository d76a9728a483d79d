import AuditLog
import Domain
import Foundation
import KeyCustody
import Listener
import Logging

/// Why the daemon does not start or cannot go on: what an operator reads, and what the service manager is told.
struct StartFailure: Sendable, Equatable {
    /// `configuration` for what no further start will mend: systemd then leaves it (`RestartPreventExitStatus=78`).
    let status: CommandOutcome.Status
    /// Each tells on one line what is wrong, in which file or at which key, and what to do.
    let lines: [String]

    init(_ error: any Error) {
        switch error {
        case let error as ConfigurationError:
            status = .configuration
            lines = error.problems.map(\.description)
        case let error as KeyFileError:
            status = .configuration
            lines = ["\(error); put the .p8 file of App Store Connect there, for the service alone to read"]
        case let error as SecretFileError:
            status = error.isOfDisk ? .failure : .configuration
            lines = ["\(error)"]
        case let error as AuditFileError:
            status = error.isOfDisk ? .failure : .configuration
            lines = ["\(error)"]
        case is FileError, is InheritedListeners.Problem:
            status = .configuration
            lines = ["\(error)"]
        case let error as ListenerError:
            status = error.isOfConfiguration ? .configuration : .failure
            lines = ["\(error)"]
        case let error as ServiceError:
            status = .failure
            lines = [error.message]
        default:
            status = .failure
            lines = ["\(error)"]
        }
    }

    /// As it is, for whoever has typed the command at a terminal.
    var told: CommandOutcome { CommandOutcome(status, errorOutput: lines.map { "\($0)\n" }.joined()) }

    /// Tells it where the log goes, and in its form: a line of another form among the others would be lost.
    func log(to logger: Logger) -> CommandOutcome {
        for line in lines {
            logger.critical("\(line)", metadata: ["exit_status": .stringConvertible(status.rawValue)])
        }
        return CommandOutcome(status)
    }
}

extension ListenerError {
    /// Whether another start would meet the same; an address may come free, or come to the machine.
    fileprivate var isOfConfiguration: Bool {
        switch reason {
        case .addressInUse, .addressNotAvailable, .alreadyUsed, .closedUnexpectedly, .other: false
        case .permissionDenied, .directoryMissing, .pathTooLong, .notASocket, .noSuchGroup, .notInGroup,
            .certificateUnusable, .authoritiesUnusable, .notListening, .inheritedElsewhere:
            true
        }
    }
}
