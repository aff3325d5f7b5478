// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * One broker for all test classes of a run, injected as a parameter.
 *
 * <p>Another broker is tested by {@code -Dsmqtt.it.external=tcp=1883,tls=8883,ws=8083,wss=8084} (ports on 127.0.0.1) together with
 * {@code -Dsmqtt.it.external.authority=ca.pem}. That tells faults of a test from faults of the broker.
 */
final class TestedBroker implements AutoCloseable, ExtensionContext.Store.CloseableResource {

    private final Map<String, Integer> externalPorts = new HashMap<>();
    private final Path authority;
    private final @Nullable BrokerProcess process;
    private final @Nullable Path directory;

    private TestedBroker() {
        String external = System.getProperty("smqtt.it.external", "");
        if (external.isEmpty()) {
            directory = temporaryDirectory();
            TestCertificates certificates = TestCertificates.in(directory);
            authority = certificates.authority();
            process = BrokerProcess.start(directory, certificates);
        } else {
            for (String pair : external.split(",")) {
                externalPorts.put(
                        pair.substring(0, pair.indexOf('=')), Integer.valueOf(pair.substring(pair.indexOf('=') + 1)));
            }
            authority = Path.of(System.getProperty("smqtt.it.external.authority", "ca.pem"));
            process = null;
            directory = null;
        }
    }

    private static Path temporaryDirectory() {
        try {
            return Files.createTempDirectory("smqtt-it");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The transports to test: all of our broker's; of an external broker those whose port is given. */
    List<Transport> transports() {
        return Stream.of(Transport.values())
                .filter(t -> process != null || externalPorts.containsKey(t.listener()))
                .toList();
    }

    /** Where to reach the broker by a transport. */
    Endpoint endpoint(Transport transport) {
        String listener = transport.listener();
        Integer port = process == null ? externalPorts.get(listener) : Integer.valueOf(process.port(listener));
        if (port == null) {
            throw new IllegalStateException("no port for " + listener + " in smqtt.it.external");
        }
        return new Endpoint(transport, port, authority);
    }

    /** The broker's output, for the message of a failed test. */
    String report() {
        return process == null ? " (external broker)" : process.report();
    }

    @Override
    public void close() {
        if (process != null) {
            process.close();
        }
        if (directory != null) {
            delete(directory);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Gives test methods the broker; starts it before the first one needs it and ends it after the last. */
    static final class Provider implements ParameterResolver {

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == TestedBroker.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return context.getRoot()
                    .getStore(ExtensionContext.Namespace.create(TestedBroker.class))
                    .computeIfAbsent("broker", key -> new TestedBroker(), TestedBroker.class);
        }
    }
}
