// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.message.LogText;
import org.jspecify.annotations.Nullable;

/**
 * An exception as it may be logged: with the same stack traces, but without control characters in its texts, which may quote
 * what a publisher chose.
 */
final class EscapedException extends Exception {

    private static final long serialVersionUID = 1L;
    private static final int DEEPEST = 16;

    private EscapedException(Throwable error, @Nullable Throwable cause) {
        super(LogText.escape(error.toString()), cause);
    }

    /**
     * Escapes an exception.
     *
     * @param error what was thrown
     * @return the same if its texts and those of its causes are clean, else a copy
     */
    static Throwable of(Throwable error) {
        return isClean(error, DEEPEST) ? error : copy(error, DEEPEST);
    }

    private static boolean isClean(Throwable error, int deeper) {
        String text = error.toString();
        Throwable cause = error.getCause();
        boolean clean = deeper > 0
                && LogText.escape(text).equals(text)
                && (cause == null || cause == error || isClean(cause, deeper - 1));
        for (Throwable suppressed : error.getSuppressed()) {
            clean = clean && isClean(suppressed, deeper - 1);
        }
        return clean;
    }

    private static Throwable copy(Throwable error, int deeper) {
        Throwable cause = deeper == 0 ? null : error.getCause();
        EscapedException shown = new EscapedException(error, cause == null ? null : copy(cause, deeper - 1));
        shown.setStackTrace(error.getStackTrace());
        if (deeper > 0) {
            for (Throwable suppressed : error.getSuppressed()) {
                shown.addSuppressed(copy(suppressed, deeper - 1));
            }
        }
        return shown;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this; // it gets that of the other
    }

    @Override
    @SuppressWarnings(
            "OverrideThrowableToString") // the name of the class says nothing, that of the other is in the message
    public String toString() {
        return String.valueOf(getMessage());
    }
}
