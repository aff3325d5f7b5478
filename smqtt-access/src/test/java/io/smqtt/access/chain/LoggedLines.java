// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** The lines that the chain logs while this is open. */
final class LoggedLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.smqtt.access.chain");
    private final List<String> lines = new CopyOnWriteArrayList<>();

    LoggedLines() {
        start();
        logger.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        lines.add(event.getFormattedMessage());
    }

    List<String> all() {
        return lines;
    }

    @Override
    public void close() {
        logger.detachAppender(this);
        stop();
    }
}
