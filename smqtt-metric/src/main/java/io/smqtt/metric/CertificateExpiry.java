// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.TlsConfig;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The ends of the certificates in the configured files. Reads them once an hour, so it blocks. For one thread. */
final class CertificateExpiry {

    private static final Logger LOG = LoggerFactory.getLogger(CertificateExpiry.class);
    private static final Duration INTERVAL = Duration.ofHours(1);

    private final Map<String, Path> files = new LinkedHashMap<>();
    private Map<String, Instant> ends = Map.of();
    private Instant readNext = Instant.MIN;

    CertificateExpiry(BrokerConfig config) {
        config.listeners().forEach((name, listener) -> {
            TlsConfig tls = listener.tls();
            if (tls != null) {
                files.put("listeners." + name, tls.certificate());
            }
        });
        ManagementTlsConfig management = config.management().tls();
        if (management != null) {
            files.put("management", management.certificate());
        }
        ClusterTlsConfig cluster = config.cluster().tls();
        if (cluster != null && config.cluster().enabled()) {
            files.put("cluster", cluster.certificate());
        }
    }

    /** The first end in each file, by the configuration block that names it. A file that cannot be read is left out. */
    Map<String, Instant> ends(Instant now) {
        if (!now.isBefore(readNext)) {
            Map<String, Instant> read = new HashMap<>();
            files.forEach((name, file) -> {
                try {
                    read.put(name, end(file));
                } catch (IOException | CertificateException e) { // the reload tells why
                    LOG.debug("the certificates in {} cannot be read", file, e);
                }
            });
            ends = read;
            readNext = now.plus(INTERVAL);
        }
        return ends;
    }

    /** The file that a block names. */
    Path file(String block) {
        return Objects.requireNonNull(files.get(block));
    }

    private static Instant end(Path file) throws IOException, CertificateException {
        try (InputStream in = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                    .map(one -> ((X509Certificate) one).getNotAfter().toInstant())
                    .min(Instant::compareTo)
                    .orElseThrow(() -> new CertificateException("there is none"));
        }
    }
}
