// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sql;

/** Ends the evaluation of a rule; the message is the reason of {@link RuleOutcome.Failed}. Has no stack trace. */
final class RuleFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String reason;

    RuleFailure(String message) {
        super(message, null, false, false);
        reason = message;
    }

    String reason() {
        return reason;
    }
}
