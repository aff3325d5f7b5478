// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.io.TempDir;

/** The sink and the source {@code rabbitmq} with one real server, whose start takes longer than all tests. */
class RabbitmqTest {

    @TempDir
    static Path folder;

    private static TestCertificates certificates;
    private static RabbitmqServer server;
    private static Connection connection;
    private static Channel channel;

    @BeforeAll
    static void start() throws Exception {
        certificates = TestCertificates.in(folder);
        server = RabbitmqServer.start(folder, certificates);
        connection = server.connect();
        channel = connection.createChannel();
    }

    @AfterAll
    static void stop() {
        connection.abort(1_000);
        server.close();
    }

    static TestCertificates certificates() {
        return certificates;
    }

    static RabbitmqServer server() {
        return server;
    }

    /** A channel of an administrator. */
    static Channel channel() {
        return channel;
    }

    @Nested
    class SinkTest extends RabbitmqSinkSuite {}

    @Nested
    class SourceTest extends RabbitmqSourceSuite {}
}
