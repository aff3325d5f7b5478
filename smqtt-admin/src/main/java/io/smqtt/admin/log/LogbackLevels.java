// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;

/** The loggers of logback. */
final class LogbackLevels implements LogLevels {

    private final LoggerContext context;

    private LogbackLevels(LoggerContext context) {
        this.context = context;
    }

    static LogLevels of(ILoggerFactory context) {
        return new LogbackLevels((LoggerContext) context);
    }

    @Override
    public List<Entry> all() {
        return context.getLoggerList().stream()
                .map(LogbackLevels::entry)
                .sorted(Comparator.comparing(Entry::name))
                .toList();
    }

    private static Entry entry(Logger logger) {
        Level own = logger.getLevel();
        return new Entry(
                logger.getName(),
                own == null ? null : own.toString(),
                logger.getEffectiveLevel().toString());
    }

    /** Creates no logger: logback keeps each of them for ever. */
    @Override
    public Entry get(String name) {
        Logger present = context.exists(name);
        return present == null ? new Entry(name, null, inherited(name).toString()) : entry(present);
    }

    private Level inherited(String name) {
        for (int dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
            Logger above = context.exists(name.substring(0, dot));
            if (above != null) {
                return above.getEffectiveLevel();
            }
        }
        return context.getLogger(Logger.ROOT_LOGGER_NAME).getEffectiveLevel();
    }

    @Override
    public void set(String name, @Nullable String level) {
        context.getLogger(name).setLevel(level == null ? null : Level.valueOf(level));
    }
}
