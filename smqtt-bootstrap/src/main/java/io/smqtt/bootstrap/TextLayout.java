// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.LayoutBase;

/** Lines for people: time, level, thread, class, message. */
final class TextLayout extends LayoutBase<ILoggingEvent> {

    @Override
    public String doLayout(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(160);
        line.append(LogLine.time(event)).append(' ').append(event.getLevel()).append(" [");
        line.append(LogLine.safe(event.getThreadName())).append("] ");
        String logger = event.getLoggerName();
        line.append(logger, logger.lastIndexOf('.') + 1, logger.length()).append(": ");
        line.append(LogLine.safe(event.getFormattedMessage())).append('\n');
        if (event.getThrowableProxy() != null) {
            LogLine.stackTrace(line, event.getThrowableProxy());
        }
        return line.toString();
    }
}
