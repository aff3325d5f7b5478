// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.StackTraceElementProxy;
import io.smqtt.message.LogText;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Common parts of both log layouts: the second line of defence against text from peers. Whatever a message or an exception
 * holds, it stays on its line, sends nothing to a terminal, and ends.
 */
final class LogLine {

    private static final int MAX_MESSAGE_CHARS = 4_096;
    private static final int MAX_FRAMES = 40;
    private static final int MAX_CAUSES = 5;

    /** Always with three digits of a second, so that columns line up and lines sort by their text. */
    private static final DateTimeFormatter TIME =
            new DateTimeFormatterBuilder().appendInstant(3).toFormatter(Locale.ROOT);

    private LogLine() {}

    /** The time of an event in UTC with milliseconds, 24 characters: {@code 2026-01-02T03:04:05.000Z}. */
    static String time(ILoggingEvent event) {
        return TIME.format(Instant.ofEpochMilli(event.getTimeStamp()));
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
