// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** What an operator sees of the log during a test. */
final class ShownLines implements BeforeEachCallback, AfterEachCallback {

    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

    private static Logger root() {
        return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        lines.start();
        root().addAppender(lines);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        root().detachAppender(lines);
    }

    /** All warnings and errors so far, the oldest first. */
    List<String> warnings() {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getLevel().isGreaterOrEqual(Level.WARN))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }
}
