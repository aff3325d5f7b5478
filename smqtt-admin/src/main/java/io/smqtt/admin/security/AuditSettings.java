// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where the lines of the audit are written.
 *
 * @param file the file; null for the log
 * @param maxBytes size after which a new file begins
 * @param files maximum number of files, at least 1
 */
public record AuditSettings(@Nullable Path file, long maxBytes, int files) {}
