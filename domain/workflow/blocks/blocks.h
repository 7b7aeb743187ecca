#pragma once

#include "domain/workflow/block_type.h"

// Internal to domain/workflow/: the blocks, each in the file of its name.
namespace vedette::domain {

extern const BlockType kWebhookBlock;
extern const BlockType kReadCsvBlock;
extern const BlockType kFilterBlock;
extern const BlockType kSelectColumnsBlock;
extern const BlockType kDedupeBlock;
extern const BlockType kEnrichLeadBlock;
extern const BlockType kEnrichCompanyBlock;
extern const BlockType kFindEmailBlock;
extern const BlockType kVerifyEmailBlock;
extern const BlockType kReverseEmailBlock;
extern const BlockType kVerifyAgeBlock;
#ifdef VEDETTE_PHONES
extern const BlockType kVerifyPhoneBlock;
#endif
extern const BlockType kOutgoingWebhookBlock;
extern const BlockType kMonitorBlock;

}  // namespace vedette::domain
