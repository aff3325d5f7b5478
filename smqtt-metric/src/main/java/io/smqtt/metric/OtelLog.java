// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.slf4j.LoggerFactory;

/**
 * Takes what OpenTelemetry says, which it says to the JDK's log, to the one of the broker: warnings only, each class at most once a minute.
 * What the exporter says is left out, for {@link ToldSpanExporter} does. It holds for the whole process, so only for one that has no other use of
 * OpenTelemetry. Any thread.
 */
final class OtelLog extends Handler {

    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(OtelLog.class);
    private static final String EXPORTER = "io.opentelemetry.exporter.";
    private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final SimpleFormatter FORMAT = new SimpleFormatter();

    /** Kept here, or what is set would be collected with it. */
    private static final Logger SOURCE = Logger.getLogger("io.opentelemetry");

    private final Map<String, Long> toldNanos = new ConcurrentHashMap<>();

    private OtelLog() {}

    /** From now on, once for all brokers. */
    static synchronized void install() {
        for (Handler handler : SOURCE.getHandlers()) {
            if (handler instanceof OtelLog) {
                return;
            }
        }
        SOURCE.addHandler(new OtelLog());
        SOURCE.setUseParentHandlers(false);
    }

    @Override
    public void publish(LogRecord said) {
        String source = String.valueOf(said.getLoggerName());
        if (said.getLevel().intValue() < Level.WARNING.intValue() || source.startsWith(EXPORTER)) {
            return;
        }
        long now = System.nanoTime();
        Long told = toldNanos.get(source);
        if (told == null || now - told >= SILENCE_NANOS) {
            toldNanos.put(source, now);
            LOG.warn(text(said), said.getThrown());
        }
    }

    /** With its parameters filled in. */
    static String text(LogRecord said) {
        return FORMAT.formatMessage(said);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
