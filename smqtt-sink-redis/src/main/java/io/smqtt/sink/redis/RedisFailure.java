// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.smqtt.message.LogText;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The meaning of a failed command.
 *
 * @param reason a sentence for operators, without values of rows
 * @param mayPass false if the same command would fail again
 */
record RedisFailure(String reason, boolean mayPass) {

    /** The first words of errors that say something of the server, not of the command. */
    private static final Set<String> PASSING = Set.of(
            "ASK",
            "BUSY",
            "CLUSTERDOWN",
            "LOADING",
            "MASTERDOWN",
            "MISCONF",
            "MOVED",
            "NOAUTH",
            "NOREPLICAS",
            "NOSCRIPT",
            "OOM",
            "READONLY",
            "TRYAGAIN",
            "UNKILLABLE",
            "WRONGPASS");

    private static final Pattern KEYS = Pattern.compile("\\b(?:keys?|channels?)\\b");
    private static final String NO_PERMISSION = "NOPERM";

    /** Reads the failure of a command without values of rows, or of a connection. */
    static RedisFailure of(Throwable error) {
        return of(error, true);
    }

    /**
     * Reads the failure of a command.
     *
     * @param fixedKeys whether all rows have the same keys, so that a key without permission is a matter of the configuration
     */
    static RedisFailure of(Throwable error, boolean fixedKeys) {
        Throwable cause = error;
        while (!(cause instanceof RedisCommandExecutionException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        if (!(cause instanceof RedisCommandExecutionException)) {
            return new RedisFailure("no answer: " + LogText.escape(message), true);
        }
        int space = message.indexOf(' ');
        String word = space < 0 ? message : message.substring(0, space);
        boolean passes = PASSING.contains(word)
                || (word.equals(NO_PERMISSION)
                        && (fixedKeys || !KEYS.matcher(message).find()));
        int quote = message.indexOf('\'');
        boolean hasValues = !passes && quote >= 0;
        return new RedisFailure(
                LogText.escape(hasValues ? message.substring(0, quote).stripTrailing() + " …" : message), passes);
    }
}
