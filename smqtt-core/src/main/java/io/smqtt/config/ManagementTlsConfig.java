// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * TLS of the management port: {@code smqtt.management.tls.*}. Files are PEM. Immutable.
 *
 * @param certificate the certificate chain; read again on SIGHUP
 * @param key the private key, PKCS #8; read again on SIGHUP
 */
public record ManagementTlsConfig(
        @ConfigDoc("the certificate chain, PEM; read again on SIGHUP. With it the port accepts HTTPS only")
        Path certificate,

        @ConfigDoc("the private key, PEM, PKCS #8; read again on SIGHUP")
        Path key) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing
     */
    public ManagementTlsConfig {
        Check.present("tls.certificate", certificate);
        Check.present("tls.key", key);
    }
}
