// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Mutual TLS between nodes of a cluster: {@code smqtt.cluster.tls.*}. Files are PEM. A node always shows its certificate and always
 * wants one of the other side, whatever host name is in it: there is nothing to choose.
 *
 * @param certificate the certificate chain that this node shows to others, as a client and as a server
 * @param key the private key of it, PKCS #8
 * @param clientCa the authorities whose certificates other nodes must show; they should sign nodes of this cluster only
 */
public record ClusterTlsConfig(
        @ConfigDoc("the certificate chain of this node, PEM. If it has an extended key usage, that must include server "
                + "and client authentication; read again on SIGHUP")
        Path certificate,

        @ConfigDoc("the private key of the certificate, PEM, PKCS #8; read again on SIGHUP")
        Path key,

        @ConfigDoc("the certificate authorities of all nodes, PEM. Connections without a certificate of theirs are "
                + "refused; read again on SIGHUP")
        Path clientCa) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing
     */
    public ClusterTlsConfig {
        Check.present("cluster.tls.certificate", certificate);
        Check.present("cluster.tls.key", key);
        Check.present("cluster.tls.client-ca", clientCa);
    }
}
