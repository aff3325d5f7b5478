// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.util.List;

/** A library that Spring Boot chose is too old for the broker. */
final class WrongVersionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final List<String> overrides;

    WrongVersionException(List<String> found, List<String> overrides) {
        super(String.join("; ", found));
        this.overrides = List.copyOf(overrides);
    }

    /** Properties of the build to set, with their values. */
    List<String> overrides() {
        return overrides;
    }
}
