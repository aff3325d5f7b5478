// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * Mutual TLS between nodes of a cluster: {@code smqtt.cluster.tls.*}. Files are PEM. A node always shows its certificate and always
 * wants one of the other side, whatever host name is in it: there is nothing to choose.
 *
 * @param certificate the certificate chain of this node, PEM. If it has an extended key usage, that must include
 *     server and client authentication; read again on SIGHUP
 * @param key the private key of the certificate, PEM, PKCS #8; read again on SIGHUP
 * @param clientCa the certificate authorities of all nodes, PEM. Connections without a certificate of theirs are
 *     refused; read again on SIGHUP
 */
@ConfigBlock("cluster.tls")
public record ClusterTlsConfig(
        @Setting(required = true) Path certificate,
        @Setting(required = true) Path key,
        @Setting(required = true) Path clientCa) {}
