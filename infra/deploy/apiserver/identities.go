package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// identities are the secrets of one run.
type identities struct {
	access
	tokenFile string
	keyFile   string
}

// makeIdentities makes a token for the client and a key that signs the tokens of service accounts.
func makeIdentities(folder string) (identities, error) {
	made := identities{
		access:    access{Token: rand.Text()},
		tokenFile: filepath.Join(folder, "tokens.csv"),
		keyFile:   filepath.Join(folder, "service-accounts.pem"),
	}
	tokens := fmt.Appendf(nil, "%s,deploy-check,deploy-check,\"system:masters\"\n", made.Token)
	if err := os.WriteFile(made.tokenFile, tokens, 0o600); err != nil {
		return made, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return made, err
	}
	bytes, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return made, err
	}
	return made, os.WriteFile(made.keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes}), 0o600)
}
