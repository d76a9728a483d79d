/// Asks Apple about the Apple Accounts behind a user's links: each account once, a bounded number of calls at a time.
struct AccountReader: Sendable {
    /// One question about one account.
    struct Question: Sendable {
        let part: AccountGap.Part
        let account: AccountResolver.Account
    }

    /// The answers, in the order of the questions, and the questions that failed.
    struct Reading<Answer: Sendable>: Sendable {
        var answers: [Answer] = []
        var gaps: [AccountGap] = []
    }

    let resolver: AccountResolver
    let concurrentCalls: Int

    /// The Apple Accounts that the links of a user lead to.
    ///
    /// - Throws: `noTransactionKnown`, what the store throws, and what the gateway throws unless `isPartialAllowed`.
    func accounts(
        of user: UserID, _ links: [Link], isPartialAllowed: Bool, _ call: UpstreamCall
    ) async throws(ServiceError) -> AccountResolver.Resolution {
        let resolution = try await resolver.resolve(links, isPartialAllowed: isPartialAllowed, call)
        guard !resolution.accounts.isEmpty || !resolution.gaps.isEmpty else {
            throw ServiceError(
                .noTransactionKnown,
                "No transaction of user `\(user)` is known, and Apple cannot be asked about a user or an `appAccountToken` alone; link a transaction first."
            )
        }
        return resolution
    }

    /// Puts all questions, each in its account's environment where that is known.
    ///
    /// - Throws: the first failure, unless `isPartialAllowed`.
    func ask<Answer: Sendable>(
        _ questions: [Question], isPartialAllowed: Bool, _ call: UpstreamCall,
        _ answer: @escaping @Sendable (Question, UpstreamCall) async throws(ServiceError) -> Answer
    ) async throws(ServiceError) -> Reading<Answer> {
        let results = try await FanOut.results(
            of: questions, atMost: concurrentCalls, isPartialAllowed: isPartialAllowed
        ) { question throws(ServiceError) in
            try await answer(question, question.account.environment.map(call.in) ?? call)
        }
        var reading = Reading<Answer>()
        for (question, result) in zip(questions, results) {
            switch result {
            case .success(let answer): reading.answers.append(answer)
            case .failure(let error):
                reading.gaps.append(
                    AccountGap(
                        part: question.part, target: question.account.target,
                        environment: question.account.environment, error: error))
            }
        }
        return reading
    }
}
