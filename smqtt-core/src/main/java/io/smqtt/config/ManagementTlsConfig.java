// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;

/**
 * TLS of the management port: {@code smqtt.management.tls.*}. Files are PEM. Immutable.
 *
 * @param certificate the certificate chain, PEM; read again on SIGHUP. With it the port accepts HTTPS only
 * @param key the private key, PEM, PKCS #8; read again on SIGHUP
 */
@ConfigBlock("tls")
public record ManagementTlsConfig(
        @Setting(required = true) Path certificate,
        @Setting(required = true) Path key) {}
