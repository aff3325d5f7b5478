// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import io.smqtt.message.LogText;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What both layouts share: the second line of defence against text from peers. Whatever a message or an exception holds,
 * it stays on its line, sends nothing to a terminal, and ends.
 */
final class LogLine {

    private static final int MAX_MESSAGE_CHARS = 4_096;
    private static final int MAX_FRAMES = 40;
    private static final int MAX_CAUSES = 5;

    private LogLine() {}

    static String time(ILoggingEvent event) {
        return Instant.ofEpochMilli(event.getTimeStamp()).toString();
    }

    static String safe(@Nullable String text) {
        String message = String.valueOf(text);
        return LogText.escapeControls(
                message.length() <= MAX_MESSAGE_CHARS ? message : message.substring(0, MAX_MESSAGE_CHARS) + "…");
    }

    /** Adds an exception and its causes, one line each and one per frame. */
    static void stackTrace(StringBuilder line, IThrowableProxy failure) {
        IThrowableProxy cause = failure;
        for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
            line.append(i == 0 ? "" : "caused by ").append(cause.getClassName()).append(": ");
            line.append(safe(cause.getMessage())).append('\n');
            StackTraceElementProxy[] frames = cause.getStackTraceElementProxyArray();
            int shown = Math.min(MAX_FRAMES, frames.length - (i == 0 ? 0 : cause.getCommonFrames()));
            for (int f = 0; f < shown; f++) {
                line.append("    ").append(frames[f].getSTEAsString()).append('\n');
            }
            cause = cause.getCause();
        }
    }
}
