// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Mutual TLS between the nodes of a cluster: {@code smqtt.cluster.tls.*}. Files are PEM. A node always presents its certificate and
 * always requires one of the other side. The host name in it is not checked.
 *
 * @param certificate the certificate chain of this node, PEM. If it has an extended key usage, that must include
 *     server and client authentication; read again on SIGHUP
 * @param key the private key of the certificate, PEM, PKCS #8; read again on SIGHUP
 * @param clientCa the certificate authorities of all nodes, PEM. Connections without a certificate that they have signed are
 *     refused; read again on SIGHUP
 */
@ConfigBlock("cluster.tls")
public record ClusterTlsConfig(
        @Setting(required = true) Path certificate,
        @Setting(required = true) Path key,
        @Setting(required = true) Path clientCa) {}
