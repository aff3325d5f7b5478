// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.config.TlsConfig;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
final class TlsListenerTest implements ListenerContract {

    @TempDir
    Path directory;

    private TestCertificates certificates;
    private TlsConfig tls;

    @BeforeEach
    void makeCertificates() throws Exception {
        certificates = new TestCertificates(directory);
        tls = certificates.server("CN=localhost", TlsConfig.ClientAuth.NONE);
    }

    @Override
    public Configs config() {
        return Configs.tcp().tls(tls);
    }

    @Override
    public WireClient connect(InetSocketAddress server) throws Exception {
        return WireClient.tls(server, certificates.client(null));
    }

    @Override
    public List<String> handlersOnceConnected() {
        return List.of(MqttPipeline.TLS, MqttPipeline.MQTT);
    }
}
