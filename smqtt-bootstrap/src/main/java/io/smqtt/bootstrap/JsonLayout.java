// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.LayoutBase;

/** One JSON object per line: time, level, thread, logger, message, and exception where there is one. */
final class JsonLayout extends LayoutBase<ILoggingEvent> {

    @Override
    public String doLayout(ILoggingEvent event) {
        StringBuilder line = new StringBuilder(240);
        field(line, "{", "time", LogLine.time(event));
        field(line, ",", "level", event.getLevel().toString());
        field(line, ",", "thread", LogLine.safe(event.getThreadName()));
        field(line, ",", "logger", event.getLoggerName());
        field(line, ",", "message", LogLine.safe(event.getFormattedMessage()));
        if (event.getThrowableProxy() != null) {
            StringBuilder trace = new StringBuilder();
            LogLine.stackTrace(trace, event.getThrowableProxy());
            field(line, ",", "exception", trace.toString());
        }
        return line.append("}\n").toString();
    }

    private static void field(StringBuilder line, String before, String name, String value) {
        line.append(before).append('"').append(name).append("\":\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '\n') {
                line.append("\\n");
            } else if (c == '"' || c == '\\') {
                line.append('\\').append(c);
            } else {
                line.append(c);
            }
        }
        line.append('"');
    }
}
