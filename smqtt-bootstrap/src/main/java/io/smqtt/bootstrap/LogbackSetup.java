// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.Layout;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.nio.charset.StandardCharsets;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * Sets logback up in code: no file is looked for and nothing is parsed at start. Found by logback as a service, it begins
 * with the defaults; the program applies its configuration when it has read it.
 */
public final class LogbackSetup extends ContextAwareBase implements Configurator {

    /** For logback, which makes it as a service. */
    public LogbackSetup() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        configure(context, LoggingConfig.defaults());
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** Uses the given levels and format from now on. Does nothing where another backend than logback is in use. */
    static void apply(LoggingConfig config) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (factory instanceof LoggerContext) {
            configure((LoggerContext) factory, config);
        }
    }

    private static void configure(LoggerContext context, LoggingConfig config) {
        Layout<ILoggingEvent> layout =
                config.format() == LoggingConfig.Format.JSON ? new JsonLayout() : new TextLayout();
        layout.setContext(context);
        layout.start();
        LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
        encoder.setContext(context);
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.setLayout(layout);
        encoder.start();
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setContext(context);
        console.setName("console");
        console.setTarget("System.err");
        console.setEncoder(encoder);
        console.start();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.addAppender(console);
        root.setLevel(Level.valueOf(config.libraryLevel().name()));
        context.getLogger("io.smqtt").setLevel(Level.valueOf(config.level().name()));
        // They log each failed connection, some with a stack trace; the backend or sink that they connect says the same
        // once a minute.
        context.getLogger("com.zaxxer.hikari").setLevel(Level.ERROR);
        context.getLogger("io.lettuce").setLevel(Level.ERROR);
        context.getLogger("org.apache.kafka").setLevel(Level.ERROR);
        context.getLogger("com.rabbitmq").setLevel(Level.OFF);
    }
}
