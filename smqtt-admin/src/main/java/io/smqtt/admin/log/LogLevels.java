// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.log;

import io.smqtt.thread.AnyThread;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/** The loggers of this process, whatever SLF4J writes to. */
@AnyThread
interface LogLevels {

    /** The name of the logger above all others. */
    String ROOT = "ROOT";

    /**
     * A logger.
     *
     * @param name its name
     * @param configured its own level; null if it has that of the logger above
     * @param effective the level in force
     */
    record Entry(String name, @Nullable String configured, String effective) {}

    /** All loggers that exist, sorted by name. */
    List<Entry> all();

    /** A logger; it need not exist before. */
    Entry get(String name);

    /**
     * Sets the level of a logger.
     *
     * @param level one of {@link LogLevelChanges#LEVELS}; null to take that of the logger above
     */
    void set(String name, @Nullable String level);

    /** The loggers of this process; null if levels cannot be set with what SLF4J writes to. */
    static @Nullable LogLevels present() {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        // compared by name: the class need not exist
        return factory.getClass().getName().equals("ch.qos.logback.classic.LoggerContext")
                ? LogbackLevels.of(factory)
                : null;
    }
}
