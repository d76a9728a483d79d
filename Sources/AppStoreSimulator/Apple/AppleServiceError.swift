import AppStoreAPI
import Foundation

/// Why the App Store does not do what was asked.
enum AppleServiceError: Error, Sendable, Equatable {
    /// The token is not accepted; the caller is not told why, the control port is.
    case unauthenticated(TokenFault)
    /// One of Apple's errors, with a message of its own if the name says too little.
    case error(APIErrorCode, message: String? = nil)
    /// The rate is exceeded until a time in UNIX milliseconds.
    case rateLimited(until: Int64)
    /// A request so wrong that it gets a status without one of Apple's numbers.
    case malformed(status: Int, String)

    /// The answer by which Apple says so.
    var outcome: AppleService.Outcome {
        switch self {
        case .unauthenticated(let fault):
            return AppleService.Outcome(response: Self.unauthenticated, reason: fault.rawValue)
        case .error(let error, let message):
            return error.outcome(message: message)
        case .rateLimited(let end):
            var outcome = APIErrorCode.rateLimitExceeded.outcome()
            outcome.response.headers.append(("Retry-After", RetryAfter(millisecondsSince1970: end).headerValue))
            return outcome
        case .malformed(let status, let reason):
            return AppleService.Outcome(response: OutgoingResponse(status: status), reason: reason)
        }
    }

    /// A refused token gets text, not one of Apple's error bodies.
    static var unauthenticated: OutgoingResponse {
        .text(401, "Unauthenticated\n\nRequest ID: \(UUID().uuidString).0.0\n")
    }
}

extension APIErrorCode {
    /// The answer by which Apple reports the error.
    ///
    /// Errors for which Apple publishes no number go by that of GeneralBadRequestError, with their own name in the message.
    func outcome(message: String? = nil) -> AppleService.Outcome {
        let number = code ?? APIErrorCode.generalBadRequest.code
        var text = message.map { "\(sentence) \($0)." } ?? sentence
        if code == nil { text = "\(name): \(text)" }
        let payload = ErrorPayload(errorCode: number, errorMessage: text)
        return AppleService.Outcome(
            response: .json(httpStatus, payload.serialized()), errorCode: number, reason: name)
    }

    /// The name as a sentence, such as "Transaction id not found." for `TransactionIdNotFoundError`.
    private var sentence: String {
        var words = ""
        for character in name.dropLast("Error".count) {
            if character.isUppercase, !words.isEmpty { words.append(" ") }
            words.append(words.isEmpty ? character.uppercased() : character.lowercased())
        }
        return words + "."
    }
}
